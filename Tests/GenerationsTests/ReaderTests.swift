import Blocking
import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import Testing

/// Readers while another task switches and collects without mercy.
@Suite("Readers during switches")
struct ReaderTests {
    private let fixture: DeviceFixture
    private static let switches = 60

    init() throws {
        fixture = try DeviceFixture()
        try fixture.activate("1.0.0")
    }

    /// Activates one version after the other, keeping nothing but the last two.
    private func switchAndCollect() async throws {
        let device = fixture.device
        try await BlockingPool.shared.run {
            for index in 1...Self.switches {
                let record = try DeviceFixture.install("1.0.\(index)", on: device)
                try device.activate([record], created: DeviceFixture.start.adding(seconds: Int64(index)))
                let now = DeviceFixture.start.adding(seconds: 10_000)
                _ = try device.collect(now: now, retain: 0, isWanted: { _ in false })
            }
        }
    }

    /// What a reader and the test tell each other.
    private final class Tally: Sendable {
        let isOver = Guarded(false)
        let reads = Guarded(0)
    }

    @Sendable
    private static func read(_ name: ModelName, on device: DeviceDirectory, _ tally: Tally) throws {
        while !tally.isOver.withLock({ $0 }) {
            let model = try device.activeModel(name)
            guard let lease = try model.lease() else { continue }
            for file in model.content.files {
                let bytes = try Durable.readFile(model.path(of: file.path), maximum: .kibibytes(1))
                #expect(bytes == DeviceFixture.content("\(model.version)", "\(file.path)"))
            }
            withExtendedLifetime(lease) {}
            tally.reads.withLock { $0 += 1 }
        }
    }

    @Test("Swift readers with a lease see the files of one version, never a mixture")
    func swiftReaders() async throws {
        let (device, name, tally) = (fixture.device, try fixture.detector, Tally())
        async let one: Void = BlockingPool.shared.run { try Self.read(name, on: device, tally) }
        async let two: Void = BlockingPool.shared.run { try Self.read(name, on: device, tally) }
        do {
            defer { tally.isOver.withLock { $0 = true } }
            try await switchAndCollect()
        }
        try await one
        try await two
        #expect(tally.reads.withLock { $0 } > 0)
        #expect(try fixture.activeVersion == "1.0.\(Self.switches)")
    }

    @Test(
        "Python readers with a lease see the files of one version, never a mixture",
        .enabled(if: Python.path != nil, "no Python environment; ‘make setup’ makes it")
    )
    func pythonReaders() async throws {
        let script = """
            import os, sealift
            reads, last = 0, ''
            while last != '1.0.\(Self.switches)':
                with sealift.lease('vision/detector') as model:
                    for file in ('model.onnx', 'extra/labels.txt'):
                        text = open(os.path.join(model.directory, file)).read()
                        assert text == model.version + ' of ' + file, (text, model)
                    last = model.version
                    reads += 1
            print(reads)
            """
        async let reader = Python.run(script, device: fixture.device.path)
        try await switchAndCollect()
        let result = try await reader
        #expect(result.ending == .exited(0), "\(result.errorText)")
        #expect((Int(result.outputText.prefix { $0 != "\n" }) ?? 0) > 0)
    }

    @Test(
        "a lease taken by Python keeps its version from being collected",
        .enabled(if: Python.path != nil, "no Python environment; ‘make setup’ makes it")
    )
    func pythonLease() async throws {
        let signal = fixture.scratch.path("held")
        let script = """
            import os, sealift, time
            with sealift.lease('vision/detector') as model:
                open('\(signal)', 'w').close()
                while not os.path.exists('\(signal).over'):
                    time.sleep(0.01)
                print(open(model.entry).read())
            """
        async let reader = Python.run(script, device: fixture.device.path)
        while try Durable.kind(of: signal) == nil { try await Blocking.sleep(seconds: 0.01) }
        try fixture.activate("1.1.0")
        try fixture.activate("1.2.0")
        let now = DeviceFixture.start.adding(seconds: 10_000)
        let report = try fixture.device.collect(now: now, retain: 0, isWanted: { _ in false })
        #expect(report.leased.count == 1)
        try Durable.writeAtomically(signal + ".over", [])
        #expect(try await reader.outputText == "1.0.0 of model.onnx\n")
        #expect(try fixture.device.collect(now: now, retain: 0, isWanted: { _ in false }).leased.isEmpty)
    }

    @Test(
        "Python and Swift find the same paths, and errors say what to do",
        .enabled(if: Python.path != nil, "no Python environment; ‘make setup’ makes it")
    )
    func samePaths() async throws {
        let model = try fixture.device.activeModel(fixture.detector)
        let script = """
            import sealift
            model = sealift.active('vision/detector')
            print(model.entry, model.directory, model.version, model.manifest, model.channel, model.generation)
            print(sealift.path('vision/detector', file='extra/labels.txt'))
            for bad in (('vision/other', None), ('vision/detector', '../../lock'), ('vision/detector', 'none')):
                try:
                    sealift.path(bad[0], file=bad[1])
                    print('found', bad)
                except sealift.SealiftError as error:
                    assert str(error)
            """
        let result = try await Python.run(script, device: fixture.device.path)
        let expected = """
            \(model.entryPath) \(model.directory) 1.0.0 \(model.manifestDigest) stable 1
            \(model.directory)/extra/labels.txt

            """
        #expect(result.outputText == expected, "\(result.errorText)")
    }

    @Test(
        "Python refuses a pointer or a record that leads elsewhere",
        .enabled(if: Python.path != nil, "no Python environment; ‘make setup’ makes it"),
        arguments: [("current", "../elsewhere"), ("generations/000001/vision/detector", "/etc")]
    )
    func hostile(_ link: String, _ destination: String) async throws {
        try Durable.replaceLink("\(fixture.device.path)/\(link)", destination: destination)
        let result = try await Python.run(
            "import sealift; sealift.active('vision/detector')",
            device: fixture.device.path
        )
        #expect(result.ending == .exited(1))
        #expect(result.errorText.contains("SealiftError") && result.errorText.contains("damaged"))
    }

    @Test(
        "Python waits for nothing, believes no damaged file, and raises nothing but its own error",
        .enabled(if: Python.path != nil, "no Python environment; ‘make setup’ makes it"),
        arguments: [
            "os.truncate(model.entry, 3)",
            "open(model.entry, 'a').write('more')",
            "os.remove(model.entry)",
            "os.remove(model.directory + '.json')",
            "open(model.directory + '.json', 'a').write(' ')",
            "os.remove(record); os.mkfifo(record)",
            "os.remove(record); os.mkdir(record)",
            "open(record, 'w').write('[' * 200000)",
            "open(record, 'w').write('{}')",
            "open(record, 'wb').write(b'\\xff')",
            "os.rename(place, place + '.away'); open(place, 'w').close()",
        ]
    )
    func damaged(_ damage: String) async throws {
        let script = """
            import os, subprocess, sealift
            model = sealift.active('vision/detector')
            place = os.path.join(os.environ['SEALIFT_DIRECTORY'], 'generations/000001')
            record = os.path.join(place, 'generation.json')
            for top in (model.directory, os.path.dirname(model.directory), place):
                for folder, _, files in os.walk(top):
                    os.chmod(folder, 0o755)
                    for file in files:
                        if not os.path.islink(os.path.join(folder, file)):
                            os.chmod(os.path.join(folder, file), 0o644)
            \(damage)
            for look in (sealift.active, sealift.path):
                try:
                    print('found', look('vision/detector'))
                except sealift.SealiftError as error:
                    assert 'damaged' in str(error), error
            try:
                with sealift.lease('vision/detector') as model:
                    print('found', model)
            except sealift.SealiftError:
                print('refused')
            """
        let result = try await Python.run(script, device: fixture.device.path)
        #expect(result.outputText == "refused\n", "\(result.errorText)")
    }

    @Test(
        "Python raises its own error for what is no name, no directory and no file",
        .enabled(if: Python.path != nil, "no Python environment; ‘make setup’ makes it")
    )
    func noNames() async throws {
        let script = """
            import sealift
            for name in (None, 1, [], b'vision/detector', 'a\\0b'):
                for directory in (None, 5, '/dev/null', 'a\\0b', []):
                    try:
                        print('found', sealift.path(name, directory))
                    except sealift.SealiftError:
                        pass
            for file in (1, [], b'x', '', '/', 'a\\0b', 'extra'):
                try:
                    print('found', sealift.path('vision/detector', file=file))
                except sealift.SealiftError:
                    pass
            print('refused')
            """
        let result = try await Python.run(script, device: fixture.device.path)
        #expect(result.outputText == "refused\n", "\(result.errorText)")
    }
}
