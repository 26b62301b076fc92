import Durable
import Publishing
import Signing
import Support
import Testing

@Suite("Client configuration and keys")
struct ConfigurationTests {
    @Test("a configuration reads back as it was written")
    func roundTrip() throws {
        var configuration = ClientConfiguration(registries: ["https://models.example:8443/"])
        configuration.root = "/etc/sealift/root.json"
        configuration.tokenFile = "/etc/sealift/token"
        #expect(try ClientConfiguration(configuration.bytes, folder: "/x") == configuration)
    }

    @Test("a relative path is relative to the file's folder")
    func relative() throws {
        let text = #"{"type":"sealift/client@1","registries":["https://a/"],"root":"root.json"}"#
        #expect(
            try ClientConfiguration(Array(text.utf8), folder: "/etc/sealift").root == "/etc/sealift/root.json"
        )
    }

    @Test(
        "a misspelt or malformed configuration is refused",
        arguments: [
            #"{"type":"sealift/client@1","registries":["https://a/"],"rot":"x"}"#,
            #"{"type":"sealift/client@2","registries":["https://a/"]}"#, #"{"type":"sealift/client@1"}"#,
            #"{"type":"sealift/client@1","registries":[]}"#, #"{"type":"sealift/client@1","registries":[1]}"#,
            #"{"type":"sealift/client@1","registries":["https://a/"],"root":1}"#, "[]", "",
            #"{"type":"sealift/client@1","type":"sealift/client@1","registries":["https://a/"]}"#,
        ]
    )
    func refused(text: String) {
        #expect { try ClientConfiguration(Array(text.utf8), folder: "/") } throws: { error in
            guard case PublishingError.configuration = error else { return false }
            return true
        }
    }

    @Test("a key is never overwritten, and never read when others may read it")
    func keyFiles() throws {
        let scratch = Scratch()
        let path = scratch.path("key.pem")
        let made = try KeyFile.create(path, .ecdsaP256, passphrase: Array("secret".utf8))
        #expect { try KeyFile.create(path, .ecdsaP256, passphrase: nil) } throws: {
            "\($0)".contains("already")
        }
        let read = try KeyFile.read(path) { () throws(PublishingError) -> [UInt8]? in Array("secret".utf8) }
        #expect(read.publicKey == made.publicKey)
        #expect {
            try KeyFile.read(path) { () throws(PublishingError) -> [UInt8]? in Array("wrong".utf8) }
        } throws: { error in
            guard case PublishingError.key(_, let reason) = error else { return false }
            return "\(reason)".contains("passphrase")
        }
        let pem = try scratch.read("key.pem")
        try scratch.write("key.pem", pem, mode: 0o644)
        #expect {
            try KeyFile.read(path) { () throws(PublishingError) -> [UInt8]? in nil }
        } throws: { error in
            guard case PublishingError.file(.tooOpen) = error else { return false }
            return "\(error)".contains("chmod 600")
        }
    }

    @Test("what lies in the file's folder is named relative to it, so that the folder can be carried")
    func carried() throws {
        var configuration = ClientConfiguration(registries: ["https://models.example:8443/"])
        configuration.root = "/srv/first/adm/root.json"
        configuration.keys = "/srv/first/adm/keys"
        configuration.administratorTokenFile = "/srv/first/adm/keys/administrator-token"
        configuration.ca = "/srv/first/admiral/ca.pem"
        let bytes = configuration.relative(to: "/srv/first/adm").bytes
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""root":"root.json""#))
        let elsewhere = try ClientConfiguration(bytes, folder: "/srv/second")
        #expect(elsewhere.administratorTokenFile == "/srv/second/keys/administrator-token")
        #expect(elsewhere.ca == "/srv/first/admiral/ca.pem")
        #expect(try ClientConfiguration(bytes, folder: "/srv/first/adm") == configuration)
    }
}
