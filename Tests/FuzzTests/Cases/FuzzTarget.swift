/// A reader of bytes from outside, and what must hold whatever they are.
///
/// One list for two uses: libFuzzer looks for bytes that break it
/// (`make fuzz`), and the tests replay what is committed under `Corpora`.
public struct FuzzTarget: Sendable {
    /// The name of its folder under `Corpora`.
    public let name: String

    /// The greatest input that the fuzzer makes, in bytes.
    public let maximumLength: Int
    private let check: @Sendable ([UInt8]) throws -> Void

    init(_ name: String, maximumLength: Int = 4_096, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.maximumLength = maximumLength
        self.check = check
    }

    /// Reads the bytes.
    ///
    /// - Returns: What does not hold; `nil` when all does. A refusal of the bytes is what a reader is for.
    public func finding(in bytes: [UInt8]) -> String? {
        do { try check(bytes) } catch let broken as Broken { return broken.rule } catch { return nil }
        return nil
    }

    /// Every reader that is fuzzed.
    public static let all: [FuzzTarget] =
        json + metadata + keys + documents + modelFiles + network + names + checks
}

/// A rule that some bytes broke.
struct Broken: Error {
    let rule: String
}

/// Ends the case unless `condition` holds.
func hold(_ condition: Bool, _ rule: @autoclosure () -> String) throws {
    guard condition else { throw Broken(rule: rule()) }
}

/// The value that `body` gives; a refusal where none may be is a finding.
func must<Value>(_ rule: String, _ body: () throws -> Value) throws -> Value {
    do { return try body() } catch { throw Broken(rule: "\(rule): \(error)") }
}
