import CanonicalJSON
import Durable
import Names
import Support
import Testing
import Trust

@testable import SyncAgent

@Suite("Receipts: several at once")
struct ReceiptRaceTests {
    private let fixture: SyncFixture

    init() throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
    }

    private func sync(_ site: String) async throws {
        try await fixture.sync {
            $0.sendsReceipts = true
            $0.tags = ["site": site]
        }
    }

    private func waiting() throws -> [String] {
        try Durable.names(in: "\(fixture.directory)/receipts").filter { $0 != "state.json" }
    }

    @Test("of several that enrol a device for the first time, all have the key that is kept")
    func enrolTogether() async throws {
        try await fixture.sync()
        let device = try SyncedDevice(directory: fixture.directory)
        let keys = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<8 {
                group.addTask { (try? device.enroll(at: DeviceRegistry.url)).map { Authoring.keyID(of: $0) } }
            }
            return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(keys.count == 8 && Set(keys).count == 1 && keys[0] != nil, "\(keys)")
        try await sync("hall-0")
        let file = try JSONParser.parse(try require(fixture.receiver.bodies.first), maximumLength: 65_536)
        #expect(file["signed"]?["device"]?.string == keys[0])
    }

    @Test(
        "syncs that end together lose no receipt of each other, and wait for nobody who keeps the queue for ever"
    )
    func queueTogether() async throws {
        try await fixture.sync()
        _ = try SyncedDevice(directory: fixture.directory).enroll(at: DeviceRegistry.url)
        fixture.receiver.answer(nil)
        var configuration = try fixture.configuration(["vision/detector@stable"])
        configuration.sendsReceipts = true
        let receipts = Receipts(configuration: configuration, exchange: fixture.receiver)
        let now = fixture.clock.now
        let codes: [ErrorCode] = [.unreachable, .cutOff, .stalled, .serverError, .diskFull, .nameNotResolved]
        await withTaskGroup(of: Void.self) { group in
            for code in codes {
                group.addTask { _ = await receipts.settle(nil, SyncError(code: code, "x"), [:], at: now) }
            }
        }
        #expect(try waiting().count == codes.count, "each says something else")
        let lock = try DirectoryLock("\(fixture.directory)/receipts.lock")
        _ = await receipts.settle(nil, SyncError(code: .missingAtServer, "x"), [:], at: now)
        #expect(try waiting().count == codes.count + 1)
        withExtendedLifetime(lock) {}
    }
}
