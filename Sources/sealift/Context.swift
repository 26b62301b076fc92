import Blocking
import Glibc
import Names

/// What a command may know of the world around it.
struct Context: Sendable {
    let environment: [String: String]

    /// The local clock, read once: one command judges by one time.
    let now: UnixTime

    init() {
        var environment: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let words = String(cString: text).split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            if words.count == 2 { environment[String(words[0])] = String(words[1]) }
            entry += 1
        }
        self.environment = environment
        now = Self.clock()
    }

    /// The words of this call, without the program's own name.
    ///
    /// The runtime's list is empty when a preloaded library has got in its way,
    /// as libfaketime does; the kernel's copy is then read.
    static var words: [String] {
        guard CommandLine.arguments.isEmpty else { return Array(CommandLine.arguments.dropFirst()) }
        let descriptor = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer[0..<count]
        }
        let words = bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast()
        return words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    /// The local clock at this moment, for the few commands that run for long.
    static func clock() -> UnixTime { MachineClock.now }

    /// Where `init` puts keys and client configuration unless told otherwise.
    var configurationDirectory: String {
        if let home = environment["XDG_CONFIG_HOME"], home.hasPrefix("/") { return home + "/sealift" }
        return (environment["HOME"] ?? ".") + "/.config/sealift"
    }

    /// `path` made absolute against the working directory, without looking at the disk.
    func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }
}
