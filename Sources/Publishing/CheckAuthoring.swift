import Blocking
import CanonicalJSON
import Checking
import Durable
import Inference
import Manifest
import ModelFormats
import Names

/// Makes golden vectors part of a version, and tries its model with them before anybody signs it.
struct CheckAuthoring {
    private let request: PublishRequest
    private let notice: @Sendable (String) -> Void

    init(_ request: PublishRequest, notice: @escaping @Sendable (String) -> Void) {
        self.request = request
        self.notice = notice
    }

    // MARK: authoring

    /// Reads what was given, has outputs recorded that are missing, and puts all into `source`.
    ///
    /// - Throws: `PublishingError`, naming the check that does not fit the model, and why.
    func add(to source: inout VersionSource) async throws(PublishingError) {
        guard !request.checks.isEmpty else { return }
        let variants = source.variants
        guard let first = variants.first, !first.interface.outputs.isEmpty else {
            throw .usage("--checks: the model's files state no inputs and outputs to check")
        }
        let paths = request.checks
        let ports = variants.map { ModelPorts($0.interface) }
        var checks = try await BlockingPool.shared.run { () throws(PublishingError) -> [WrittenCheck] in
            var checks: [WrittenCheck] = []
            for path in paths {
                var source = CheckSource(path, for: ports[0])
                checks += try source.checks()
            }
            guard checks.count <= CheckSource.most else {
                throw .usage("\(checks.count) checks were given; the most is \(CheckSource.most)")
            }
            for check in checks {
                for variant in ports { try Self.check(check, variant) }
            }
            return checks
        }
        if checks.contains(where: \.isOpen) { try await record(&checks, first) }
        let files = try CheckFiles()
        var values: [JSONValue] = []
        for check in checks { values.append(try files.value(of: check)) }
        try source.add(files.measured)
        source.checks = values
        source.checkFiles = files
    }

    private static func check(_ check: WrittenCheck, _ ports: ModelPorts) throws(PublishingError) {
        do throws(InferenceError) {
            try check.check(against: ports)
            let value = check.canonical { JSONValue.members(["base64": .text(Base64.text($0.bytes))]) }
            try check.checkShapes(
                try GoldenVector.inputs(of: value, ports: ports) { _ in nil },
                ports: ports
            )
        } catch { throw .usage("\(check.name): \(error)") }
    }

    /// Has the model itself say what comes out, and tells that this was so.
    private func record(
        _ checks: inout [WrittenCheck],
        _ variant: VersionSource.ReadVariant
    ) async throws(PublishingError) {
        let open = checks.indices.filter { checks[$0].isOpen }
        let name = checks[open[0]].name
        let format = variant.inspected.inspection.format
        guard format == .onnx else {
            throw .usage(
                "\(name) has no outputs, and they cannot be recorded, since none of \(format.rawValue) can be run here; "
                    + "write `outputs`"
            )
        }
        guard let program = request.checkProgram else {
            throw .usage(
                "\(name) has no outputs, and no ONNX Runtime was found here that could record them; write `outputs`, "
                    + "or install it: ‘sealift doctor’ prints the line"
            )
        }
        guard variant.isRunnable else {
            throw .usage(
                "\(name) has no outputs, and they cannot be recorded, since the model's files are links, which runtimes "
                    + "do not follow; write `outputs`, or give a folder with the files themselves"
            )
        }
        let files = try CheckFiles()
        defer { withExtendedLifetime(files) {} }
        var values: [JSONValue] = []
        for index in open { values.append(try files.value(of: checks[index])) }
        let verdict = try await verdict(program, variant, values, files.locations, .record)
        switch verdict {
        case .recorded(let runtime, let vectors):
            let ports = ModelPorts(variant.interface)
            for (index, outputs) in zip(open, vectors) {
                checks[index].outputs = try Self.tensors(outputs, ports, checks[index].name)
                notice(
                    "\(checks[index].name): its outputs were recorded from the model itself with \(runtime); they say "
                        + "what it gives, not that this is right"
                )
            }
        case .failed(let runtime, let reason):
            throw .checks("the outputs of \(name) cannot be recorded with \(runtime): \(reason)")
        case .killed(let runtime, let reason):
            throw .usage("\(name) has no outputs, and they cannot be recorded with \(runtime): \(reason)")
        case .notRun(let reason):
            throw .usage("\(name) has no outputs, and they cannot be recorded: \(reason)")
        case .passed: throw .checks("the outputs of \(name) cannot be recorded: no answer")
        }
    }

    /// Recorded elements with a shape of as many, which is all that a manifest keeps of it.
    private static func tensors(
        _ outputs: [String: [UInt8]],
        _ ports: ModelPorts,
        _ name: String
    ) throws(PublishingError) -> [String: Tensor] {
        var object = JSONObject()
        for (key, bytes) in outputs { object[key] = .members(["base64": .text(Base64.text(bytes))]) }
        // Outputs are read as inputs are, by the ports that they come from.
        let value = JSONValue.members(["inputs": .object(object)])
        do throws(InferenceError) {
            return try GoldenVector.inputs(
                of: value,
                ports: ModelPorts(inputs: ports.outputs, outputs: [])
            ) { _ in nil }
        } catch { throw .checks("\(name): what the model gave does not fit its own interface: \(error)") }
    }

    // MARK: running

    /// Tries every variant with all golden vectors, those of a card as well.
    ///
    /// - Returns: What became of them, a line for each variant.
    /// - Throws: `PublishingError.checks` when one is not reproduced.
    func run(on source: VersionSource) async throws(PublishingError) -> [String] {
        let ofCard = request.card?.checks ?? []
        guard !ofCard.isEmpty || !source.checks.isEmpty else { return [] }
        var lines: [String] = []
        for variant in source.variants {
            let name = "variant \(variant.inspected.name)"
            let locations = Dictionary(
                variant.files.map { ($0.entry.path, $0.location) },
                uniquingKeysWith: { first, _ in first }
            )
            var checks: [JSONValue] = []
            do throws(ManifestError) {
                for check in ofCard { checks.append(try check.json(for: variant.interface)) }
            } catch { throw .unpublishable("\(name): \(error)") }
            checks += source.checks
            try await check(checks, of: variant, locations)
            lines.append(try await line(name, variant, checks, locations))
        }
        for line in lines { notice(line) }
        return lines
    }

    private func line(
        _ name: String,
        _ variant: VersionSource.ReadVariant,
        _ checks: [JSONValue],
        _ locations: [FilePath: String]
    ) async throws(PublishingError) -> String {
        let count = Counted.words(checks.count, "golden vector")
        let left = "devices that have a runtime run them before they activate the version"
        guard variant.inspected.inspection.format == .onnx else {
            let format = variant.inspected.inspection.format.rawValue
            return "\(name): \(count) not run, since none of \(format) can be run here; \(left)"
        }
        guard let program = request.checkProgram else {
            return "\(name): \(count) not run, since no ONNX Runtime was found here; \(left)"
        }
        guard variant.isRunnable else {
            return
                "\(name): \(count) not run, since its files are links, which runtimes do not follow; \(left)"
        }
        switch try await verdict(program, variant, checks, locations, .compare) {
        case .passed(let runtime): return "\(name): \(count) reproduced with \(runtime)"
        case .notRun(let reason): return "\(name): \(count) not run: \(reason); \(left)"
        case .killed(let runtime, let reason):
            return "\(name): \(count) not run: with \(runtime), \(reason), each time; \(left)"
        case .failed(let runtime, let reason):
            throw .checks(
                "\(name) does not reproduce its golden vectors with \(runtime), so nothing was published: \(reason); "
                    + "correct the model, or what is expected of it"
            )
        case .recorded: throw .checks("\(name): the golden vectors got another answer than a comparison")
        }
    }

    /// What can be known of every vector without a runtime, of a card's too.
    private func check(
        _ checks: [JSONValue],
        of variant: VersionSource.ReadVariant,
        _ locations: [FilePath: String]
    ) async throws(PublishingError) {
        let ports = ModelPorts(variant.interface)
        // A declared interface is not known here, so that nothing can be compared with it.
        guard !ports.inputs.isEmpty else { return }
        let name = variant.inspected.name
        try await BlockingPool.shared.run { () throws(PublishingError) in
            for (index, check) in checks.enumerated() {
                do throws(InferenceError) {
                    let vector = try GoldenVector(check, ports: ports) { path in
                        guard let location = FilePath(path).flatMap({ locations[$0] }) else { return nil }
                        return try? Durable.readFile(location, maximum: CheckRun.longestFile)
                    }
                    try ports.check(vector.inputs)
                } catch { throw .unpublishable("check \(index) does not fit variant \(name): \(error)") }
            }
        }
    }

    private func verdict(
        _ program: CheckProgram,
        _ variant: VersionSource.ReadVariant,
        _ checks: [JSONValue],
        _ locations: [FilePath: String],
        _ wish: CheckRequest.Wish
    ) async throws(PublishingError) -> CheckProgram.Verdict {
        let request = CheckRequest(
            runtime: program.library,
            entry: variant.entryLocation ?? "/",
            interface: variant.interface,
            checks: checks,
            files: locations,
            wish: wish,
            parent: 1
        )
        do throws(CheckError) { return try await program.verdict(on: request, length: variant.length) } catch
        {
            throw .checks("the golden vectors of variant \(variant.inspected.name) were not run: \(error)")
        }
    }
}

extension VersionSource.ReadVariant {
    /// Where the main file lies.
    var entryLocation: String? {
        files.first { $0.entry.path == inspected.entry }?.location
    }

    /// Whether a runtime can open the files where they lie: each under its own name, where more than one belong together.
    var isRunnable: Bool {
        guard inspected.inspection.format == .onnx, let entryLocation else { return false }
        guard !inspected.inspection.externalFiles.isEmpty else { return true }
        let entry = inspected.entry.description
        guard entryLocation.hasSuffix("/" + entry) else { return false }
        let root = entryLocation.dropLast(entry.count)
        return inspected.files.allSatisfy { $0.location == root + $0.path.description && $0.state.names == 1 }
    }
}
