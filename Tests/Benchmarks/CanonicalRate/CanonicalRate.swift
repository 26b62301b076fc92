import CanonicalJSON
import Durable
import Names

/// Times the reading of a metadata file and the making of what its signature is over.
///
///     canonical-rate ROUNDS FILE
///
/// Prints the seconds of each round, one a line.
@main
struct CanonicalRate {
    enum Failure: Error { case usage, notSigned }

    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 3, let rounds = Int(words[1]), rounds > 0 else { throw Failure.usage }
        let bytes = try Durable.readFile(words[2], maximum: .mebibytes(256))
        for _ in 0..<rounds {
            var length = 0
            let duration = try ContinuousClock().measure {
                let file = try JSONParser.parse(bytes, maximumLength: bytes.count, maximumDepth: 64)
                guard let signed = file["signed"] else { throw Failure.notSigned }
                length = signed.olpcCanonicalSlice.count
            }
            guard length > 0 else { throw Failure.notSigned }
            print(Double(duration.components.attoseconds) / 1e18 + Double(duration.components.seconds))
        }
    }
}
