import Blocking
import Durable
import Names
package import Signing

/// A key that another program holds: a hardware token, a cloud service, a colleague's script.
///
/// The program gets the message on its standard input and prints the signature,
/// in hexadecimal or base64. Its public key is in `PROGRAM.pub`, or is what
/// `PROGRAM ARGUMENTS --public-key` prints, in PEM. Nothing it prints is used
/// before it has verified under that key.
package struct CommandSigner: Signer {
    package let publicKey: PublicKey
    private let words: [String]

    /// Seconds that a person has to touch a token.
    private static let deadline = 120.0
    private static let outputLimit = ByteCount.kibibytes(64)

    /// Asks for the public key; blocks while the program works.
    ///
    /// - Parameter command: A path and arguments, parted by white space.
    /// - Throws: `PublishingError.signer`, with what the program said.
    package init(_ command: String) throws(PublishingError) {
        words = command.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let program = words.first, program.contains("/") else {
            throw .usage("‘\(command)’: the signer's program must be a path, such as ./sign-with-token")
        }
        let file: [UInt8]?
        do { file = try Durable.readFileIfPresent(program + ".pub", maximum: Self.outputLimit) } catch {
            throw .file(error)
        }
        let text: [UInt8]
        if let file { text = file } else { text = try Self.run(words + ["--public-key"], input: []) }
        guard let key = PublicKey(pem: String(decoding: text, as: UTF8.self)) else {
            let place = file == nil ? "what it prints for --public-key" : "\(program).pub"
            throw .signer(command: program, reason: "\(place) is not one public key in PEM")
        }
        publicKey = key
    }

    package func signature(of message: [UInt8]) throws(SigningError) -> [UInt8] {
        let output: [UInt8]
        do { output = try Self.run(words, input: message) } catch {
            throw .engineFailed(operation: "sign", reason: "\(error)")
        }
        let text = String(decoding: output.filter { $0 > 0x20 }, as: UTF8.self)
        let candidates = [Hex.bytes(text), Base64.bytes(text)].compactMap { $0 }
        guard !candidates.isEmpty else {
            throw .engineFailed(
                operation: "sign",
                reason: "\(words[0]) printed neither hexadecimal nor base64: \(text.prefix(80))"
            )
        }
        guard let signature = candidates.first(where: { publicKey.isValid($0, for: message) }) else {
            throw .engineFailed(
                operation: "sign",
                reason: "what \(words[0]) printed is not a signature of its public key over the message"
            )
        }
        return signature
    }

    private static func run(_ words: [String], input: [UInt8]) throws(PublishingError) -> [UInt8] {
        var child = ChildProcess(words[0], Array(words.dropFirst()))
        child.input = input
        child.deadline = deadline
        child.outputLimit = outputLimit
        let result: ChildResult
        do { result = try child.result() } catch { throw .signer(command: words[0], reason: "\(error)") }
        let said = result.errorText.split(separator: "\n").prefix(4).joined(separator: " / ")
        let suffix = said.isEmpty ? "" : "; it said: \(said.prefix(400))"
        switch result.ending {
        case .exited(0): return result.output
        case .exited(let code):
            throw .signer(command: words[0], reason: "it ended with exit code \(code)\(suffix)")
        case .signalled(let number):
            throw .signer(command: words[0], reason: "it was ended by signal \(number)\(suffix)")
        case .overran(let seconds):
            throw .signer(command: words[0], reason: "it did not end within \(Int(seconds)) seconds\(suffix)")
        }
    }
}
