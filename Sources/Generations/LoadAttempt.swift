import CLinux
import Durable
import Glibc
package import Names

/// A load of a version that is in progress, on the disk, so that one which takes its process down is known afterwards.
///
///     loading/<manifest digest>.<random>   a load in progress: its process holds a lock on it, which the system
///                                          takes away however the process ends; inside, the boot in which it began
///     loading/<manifest digest>.loaded     the version was loaded here before
///
/// A file that nobody holds is a load that its process did not survive; one of
/// another boot says nothing, since the machine may have lost its power. Nothing
/// here has to outlive the machine, so nothing waits for the disk.
package final class LoadAttempt: Sendable {
    private let descriptor: Int32
    private let file: String
    private let loadedFile: String

    fileprivate init?(_ manifest: Digest, in folder: String) {
        let random = String(UInt64.random(in: 0 ... .max), radix: 16)
        let staged = "\(folder)/.\(manifest.hex).\(random).partial"
        let descriptor = clinux_open(staged, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        file = "\(folder)/\(manifest.hex).\(random)"
        loadedFile = "\(folder)/\(manifest.hex)\(DeviceDirectory.loadedSuffix)"
        let boot = Array(DirectoryLock.bootID().utf8)
        // Held before it has its name, so that nobody finds it without its holder.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, write(descriptor, boot, boot.count) == boot.count,
            rename(staged, file) == 0
        else {
            unlink(staged)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Notes that the process lived through it.
    ///
    /// - Parameter hasLoaded: Whether the version was loaded, after which one crash is no proof against it any more.
    package func end(hasLoaded: Bool) {
        unlink(file)
        guard hasLoaded else { return }
        let marker = clinux_open(loadedFile, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o644)
        if marker >= 0 { close(marker) }
    }
}

/// How earlier loads of a version ended.
package struct LoadHistory: Equatable, Sendable {
    /// Loads that their process did not survive, since the last that went well.
    package let crashes: Int

    /// Whether the version was loaded here before.
    package let hasLoaded: Bool

    package init(crashes: Int, hasLoaded: Bool) {
        self.crashes = crashes
        self.hasLoaded = hasLoaded
    }

    /// Why the version is not tried again; `nil` when it may be.
    ///
    /// A process may end for reasons of its own while it loads, a signal or an
    /// interrupt: what was never loaded here is tried twice, and what was three times.
    package var verdict: String? {
        guard crashes >= (hasLoaded ? 3 : 2) else { return nil }
        return "\(crashes) processes in a row ended while they loaded it"
            + (hasLoaded ? "" : ", and none ever did load it")
    }
}

extension DeviceDirectory {
    fileprivate static let loadedSuffix = ".loaded"

    var loadingPath: String { "\(path)/loading" }

    /// Notes that a load begins.
    ///
    /// - Returns: `nil` where nothing can be written, as on a read-only disk: a crash is not known afterwards then.
    package func beginLoading(_ manifest: Digest) -> LoadAttempt? {
        mkdir(loadingPath, 0o755)
        return LoadAttempt(manifest, in: loadingPath)
    }

    /// What earlier loads of a version left behind.
    package func loadHistory(of manifest: Digest) -> LoadHistory {
        var crashes = 0
        for file in loadFiles(of: manifest) where isAbandoned(file) { crashes += 1 }
        let hasLoaded = access("\(loadingPath)/\(manifest.hex)\(Self.loadedSuffix)", F_OK) == 0
        return LoadHistory(crashes: crashes, hasLoaded: hasLoaded)
    }

    /// Forgets loads that crashed: the version was loaded since, or is in the quarantine.
    package func forgetCrashes(of manifest: Digest) {
        for file in loadFiles(of: manifest) where isAbandoned(file) { unlink(file) }
    }

    private func loadFiles(of manifest: Digest) -> [String] {
        let names = (try? Durable.names(in: loadingPath)) ?? []
        return names.filter { $0.hasPrefix("\(manifest.hex).") && !$0.hasSuffix(Self.loadedSuffix) }
            .map { "\(loadingPath)/\($0)" }
    }

    /// Whether nobody holds the file any more; one of another boot is removed, since it says nothing.
    private func isAbandoned(_ file: String) -> Bool {
        let descriptor = clinux_open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // Shared, so that several which look at once see the same.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &buffer, buffer.count)
        guard buffer[..<max(0, count)].elementsEqual(DirectoryLock.bootID().utf8) else {
            unlink(file)
            return false
        }
        // One that ended well between the two looks has no name any more.
        return access(file, F_OK) == 0
    }
}
