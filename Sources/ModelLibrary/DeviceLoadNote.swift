import Blocking
import Generations
import Names

/// Notes a load on the device while it is in progress; see `LoadAttempt`.
final class DeviceLoadNote: LoadNote {
    private let manifest: Digest
    private let device: DeviceDirectory
    private let attempt = Guarded<LoadAttempt?>(nil)

    init(_ manifest: Digest, on device: DeviceDirectory) {
        self.manifest = manifest
        self.device = device
    }

    func begin() {
        let begun = device.beginLoading(manifest)
        attempt.withLock { $0 = begun }
        guard begun != nil else { return }
        // A process that ends in good order while it loads is no crash.
        OrderlyExit.add(self) { $0.end(hasLoaded: false) }
    }

    func end(hasLoaded: Bool) {
        OrderlyExit.remove(self)
        let begun = attempt.withLock { attempt in
            defer { attempt = nil }
            return attempt
        }
        begun?.end(hasLoaded: hasLoaded)
        if hasLoaded { device.forgetCrashes(of: manifest) }
    }
}
