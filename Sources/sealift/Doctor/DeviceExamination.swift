import Durable
import Generations
import Glibc
import Names
import SyncAgent

/// What a device directory is asked; changes nothing there.
struct DeviceExamination {
    let directory: String
    let reserve: UInt64

    /// What it should have; nothing is what the last sync was asked for.
    let wanted: [WantedModel]
    let now: UnixTime

    func findings() -> [Finding] {
        let device: DeviceDirectory
        let status: DeviceStatus
        do {
            device = try DeviceDirectory.open(directory)
        } catch {
            return [
                .problem(
                    "directory",
                    directory,
                    "\(error)",
                    "Check the path; the first ‘sealift sync’ makes the directory."
                )
            ]
        }
        var findings = [
            access(device), HostExamination.space(at: device.path, reserve: reserve, device.path),
        ]
        findings.append(lock(device))
        do { try device.checkLinks() } catch {
            findings.append(.problem("directory", device.path, "\(error)", "Put the directory itself there."))
        }
        for name in ["rollout", "key.pem"] {
            if let finding = HostExamination.privateFile("\(device.path)/device/\(name)") {
                findings.append(finding)
            }
        }
        do { status = try SyncedDevice(directory: directory).status(wanted: wanted, at: now) } catch {
            return findings + [.problem("generation", device.path, error)]
        }
        findings.append(clock(device))
        findings.append(chain(status))
        return findings + faults() + models(status) + missing(status) + quarantined()
    }

    private func access(_ device: DeviceDirectory) -> Finding {
        guard Glibc.access(device.path, R_OK | W_OK | X_OK) == 0 else {
            return .problem(
                "permissions",
                device.path,
                "this user may not write there: \(String(cString: strerror(errno)))",
                "Run as the user whom the directory belongs to, or give it to this one; readers need no right to write."
            )
        }
        return .good("permissions", device.path, "this user may write there")
    }

    private func lock(_ device: DeviceDirectory) -> Finding {
        let holder: String?
        do throws(DurableError) {
            guard case .file? = try Durable.kind(of: device.lockPath) else {
                guard try Durable.kind(of: device.lockPath) != nil else {
                    return .good("lock", device.lockPath, "free")
                }
                return .warning(
                    "lock",
                    device.lockPath,
                    "it is no file, so nobody can hold it",
                    "The next ‘sealift sync’ puts it right."
                )
            }
            holder = try DirectoryLock.holder(of: device.lockPath)
        } catch {
            return .problem("lock", device.lockPath, error)
        }
        guard let holder else {
            // A file that a dead process left holds nobody up: the system gave the lock back when it ended.
            return .good("lock", device.lockPath, "free")
        }
        return .warning(
            "lock",
            device.lockPath,
            "held by \(holder)",
            "Wait for that sync; if it does not move, end that process: the lock goes with it."
        )
    }

    private func clock(_ device: DeviceDirectory) -> Finding {
        guard let state = try? device.trustState(), let floor = state.clockFloor else {
            return .good("signed-time", device.path, "no signed time was seen yet")
        }
        if let fault = state.fault(ofClock: now) {
            return .problem(
                "signed-time",
                device.path,
                fault,
                "Set the clock; nothing new is accepted before."
            )
        }
        return .good("signed-time", device.path, "the clock is not behind \(floor)")
    }

    private func chain(_ status: DeviceStatus) -> Finding {
        let until = status.freshUntil.map { " until \($0)" } ?? ""
        let grace = status.graceUntil.map { "; what is active may run until \($0)" } ?? ""
        let remedy =
            "‘sealift sync’; if it says that a role has expired, the registry's operator must sign it."
        return switch status.freshness {
        case .fresh: .good("chain", status.directory, "fresh\(until)")
        case .stale: .warning("chain", status.directory, "expired\(until)\(grace)", remedy)
        case .overdue: .problem("chain", status.directory, "expired\(until); \(status.graceIsOver)", remedy)
        case .unknown:
            .warning(
                "chain",
                status.directory,
                status.clockFault ?? "no sync has finished yet",
                status.clockFault == nil ? "‘sealift sync’" : "Set the clock; until then nobody can tell."
            )
        }
    }

    private func quarantined() -> [Finding] {
        let versions: [SyncedDevice.Version]
        do { versions = try SyncedDevice(directory: directory).quarantine() } catch {
            return [.problem("quarantine", directory, error)]
        }
        guard !versions.isEmpty else {
            return [.good("quarantine", directory, "no version is kept from being taken again")]
        }
        return versions.map { version in
            .warning(
                "quarantine",
                "\(version.model) \(version.version)",
                "not taken again: \(version.reason)",
                "Publish a version that is right; ‘sealift quarantine clear \(version.model)’ lets this one be taken."
            )
        }
    }

    private func missing(_ status: DeviceStatus) -> [Finding] {
        status.missing.map { model in
            // What a later sync may bring by itself is no problem yet.
            let code = ErrorCode(rawValue: model.code)
            let isLater = code.map { [75, 4].contains($0.exitCode) || $0 == .nothingActive } ?? false
            let found = "wanted and not there: \(model.reason)"
            return isLater
                ? .warning("missing", model.request, found, model.remedy)
                : .problem("missing", model.request, found, model.remedy)
        }
    }

    /// Files that the configuration names for a model, and that are not what they must be.
    private func faults() -> [Finding] {
        wanted.compactMap { request in
            request.fault.map { .problem("expectation", request.model, $0.message, "Put the file right.") }
        }
    }

    private func models(_ status: DeviceStatus) -> [Finding] {
        guard !status.models.isEmpty else {
            return [.warning("active", status.directory, "nothing is active", "‘sealift sync’")]
        }
        return status.models.map { model in
            guard let problem = model.problem else {
                return .good("active", model.model, "\(model.version) (\(model.variant))")
            }
            return .problem("active", model.model, problem, "‘sealift sync’ puts it right.")
        }
    }
}
