import Durable
import Names
import Publishing
import Signing
import Support
import Testing
import Trust

@Suite("Signers")
struct SignerTests {
    private let scratch = Scratch()

    private func script(_ text: String) throws -> String {
        let path = scratch.path("sign")
        try Durable.writeAtomically(path, Array("#!/bin/sh\n\(text)\n".utf8), mode: 0o700)
        return path
    }

    private func noPassphrase(_ file: String) throws(PublishingError) -> [UInt8]? { nil }

    @Test("a program that prints its key and signatures signs", arguments: ["hexadecimal", "base64"])
    func works(encoding: String) throws {
        let key = scratch.path("key.pem")
        _ = try KeyFile.create(key, .ecdsaP256, passphrase: nil)
        let encoder = encoding == "base64" ? "openssl base64" : "od -An -v -tx1"
        let program = try script(
            "[ \"$2\" = --public-key ] && exec cat '\(key).pub'\nopenssl dgst -sha256 -sign '\(key)' | \(encoder)"
        )
        let signer = try KeyRing.open("command:\(program) slot-9", noPassphrase)
        let message = [UInt8](repeating: 7, count: 300_000)
        #expect(signer.publicKey.isValid(try signer.signature(of: message), for: message))
    }

    @Test(
        "a program that fails, or signs something else, is refused with what it said",
        arguments: [
            ("echo no token >&2; exit 9", "exit code 9; it said: no token"),
            ("echo deadbeef", "not a signature"),
            ("echo '%%%'", "neither hexadecimal nor base64"), ("kill -9 $$", "ended by signal 9"),
            ("true", "not a signature"),
        ]
    )
    func fails(text: String, words: String) throws {
        let key = try KeyFile.create(scratch.path("key.pem"), .ecdsaP256, passphrase: nil)
        let program = try script(text)
        try Durable.writeAtomically(program + ".pub", Array(key.publicKey.pem.utf8))
        let signer = try CommandSigner(program)
        #expect {
            try signer.signature(of: [1, 2, 3])
        } throws: { "\($0)".contains(words) }
    }

    @Test("a program without a public key, or that is no path, is refused before anything is signed")
    func noKey() throws {
        let program = try script("echo nothing")
        #expect { try CommandSigner(program) } throws: { "\($0)".contains("--public-key") }
        #expect { try CommandSigner("gpg") } throws: { "\($0)".contains("must be a path") }
        #expect { try CommandSigner("/nonexistent/program") } throws: { "\($0)".contains("could not start") }
    }

    @Test("keys of the folder sign as many times as needed, named keys always, and a useless one is refused")
    func ring() throws {
        let world = try SignedState()
        for (index, key) in world.roots.enumerated() {
            let file = scratch.path("root-\(index).pem")
            try Durable.writeAtomically(file, try key.pem(passphrase: nil), mode: 0o600)
            try Durable.writeAtomically(file + ".pub", Array(key.publicKey.pem.utf8))
        }
        let draft = try world.draft { try $0.renew(.root) }
        var proposal = try draft.proposal()
        try KeyRing([], folder: scratch.path, passphrase: noPassphrase).sign(&proposal)
        #expect(proposal.roles[0].signatures.count == 2, "two are enough")
        let files = (0..<3).map { scratch.path("root-\($0).pem") }
        var all = try draft.proposal()
        try KeyRing(files, folder: nil, passphrase: noPassphrase).sign(&all)
        #expect(all.roles[0].signatures.count == 3)
        let other = scratch.path("other.pem")
        _ = try KeyFile.create(other, .ed25519, passphrase: nil)
        let ring = try KeyRing([other], folder: nil, passphrase: noPassphrase)
        var refused = try draft.proposal()
        #expect { try ring.sign(&refused) } throws: { "\($0)".contains("may not sign root") }
        #expect { try KeyRing([other, other], folder: nil, passphrase: noPassphrase) } throws: {
            "\($0)".contains("given twice")
        }
    }

    @Test("a public half alone is a key that is somewhere else: it has a name and signs nothing")
    func elsewhere() throws {
        let world = try SignedState()
        for (index, key) in world.roots.enumerated() {
            let file = scratch.path("root-\(index).pem")
            try Durable.writeAtomically(file + ".pub", Array(key.publicKey.pem.utf8))
            guard index == 0 else { continue }
            try Durable.writeAtomically(file, try key.pem(passphrase: nil), mode: 0o600)
        }
        let ring = try KeyRing([], folder: scratch.path, option: "sign-with", passphrase: noPassphrase)
        #expect(ring.keyIDs == [Test.id(world.roots[0])])
        var proposal = try world.draft { try $0.renew(.root) }.proposal()
        try ring.sign(&proposal)
        #expect(proposal.roles[0].signatures.count == 1)
        let missing = try #require(try proposal.missing(on: world.state).first)
        let error = PublishingError.unsigned([missing.words(naming: ring.names)], option: ring.option)
        #expect("\(error)".contains("(root-1.pem, not here)") && "\(error)".contains("--sign-with"))
    }
}
