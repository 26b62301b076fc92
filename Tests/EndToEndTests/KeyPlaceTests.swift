import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// Keys, tokens and files that are elsewhere, or are not what they are taken for.
    @Suite("Keys in several places", .serialized)
    struct KeyPlaceTests {
        @Test("after the root keys went to their holders, what can be signed here is, and the rest is named")
        func publicHalves() throws {
            let world = try World()
            try world.created(profile: "team")
            try world.serve()
            try world.release("1.0.0").expecting(0)
            let holder = world.scratch.path("root-1.pem")
            let root = try Durable.readFile(world.key("root-1"), maximum: .kibibytes(64))
            try Durable.writeAtomically(holder, root, mode: 0o600)
            for number in 1...3 { #expect(unlink(world.key("root-\(number)")) == 0) }
            let doctor = try world.run(["doctor", "--offline"])
            #expect(doctor.output.contains("0 of the keys of root 1 lie here, 2 must sign"), "\(doctor)")

            let refreshed = try world.run(["metadata", "refresh", "--expiring", "400d"]).expecting(0)
            #expect(refreshed.errors.contains("warning: root ends in"), "\(refreshed)")
            #expect(refreshed.errors.contains("signs it again, with 2 of"), "\(refreshed)")
            #expect(!refreshed.errors.contains("warning: vision"), "\(refreshed)")
            #expect(refreshed.errors.contains("(root-1.pem, not here)"), "\(refreshed)")
            #expect(try world.version(of: "targets") == "2")
            let rotated = try world.run(["root", "rotate", "--threshold", "3", "--yes"]).expecting(1)
            #expect(rotated.errors.contains("root has 0 of 2 signatures"), "\(rotated)")
            #expect(
                rotated.errors.contains("root-1.pem, not here") && rotated.errors.contains("--key"),
                "\(rotated)"
            )
            let out = world.scratch.path("root.proposal")
            try world.run(["root", "rotate", "--threshold", "3", "--yes", "--out", out]).expecting(0)
            let none = try world.run(["role", "sign", out, "--yes"]).expecting(1)
            #expect(
                none.errors.contains("none of these keys is here") && none.errors.contains("--key"),
                "\(none)"
            )
            try world.run(["role", "sign", out, "--yes", "--key", holder]).expecting(0)

            // Nothing at all can be signed by this key, which a timer must notice.
            let idle = try world.run(["metadata", "refresh", "--expiring", "400d", "--key", holder])
                .expecting(1)
            #expect(idle.errors.contains("the keys here suffice for none"), "\(idle)")
        }

        @Test("metadata status lists every role, also those that nobody has signed, and 4 says that one ends")
        func status() throws {
            let world = try World()
            try world.created(["--owner", "Vision team"])
            try world.serve()
            let fresh = try world.run(["metadata", "status"]).expecting(0)
            for line in [
                "vision  not signed yet", "snapshot  version ", "timestamp  version ", "sealift~hold  ",
            ] {
                #expect(
                    fresh.output.split(separator: "\n").contains { $0.hasPrefix(line) },
                    "\(line): \(fresh)"
                )
            }
            #expect(fresh.output.contains("of Vision team"), "\(fresh)")
            #expect(fresh.output.contains("1 of 1: ") && fresh.output.contains("… (vision.pem)"), "\(fresh)")
            try world.run(["metadata", "status", "--expiring", "30d"]).expecting(0)
            try world.run(["metadata", "status", "--expiring", "800d"]).expecting(4)
        }

        @Test("a configuration that is carried elsewhere works there; only who commits needs its token")
        func carried() throws {
            let world = try World()
            let told = try world.created()
            #expect(told.output.contains("tokens     valid until 2"), "\(told)")
            try world.serve()
            try world.release("1.0.0").expecting(0)
            let folder = world.scratch.path("usb")
            try Durable.makeDirectory(folder + "/keys")
            for name in ["client.json", "root.json", "ca.pem", "keys/targets.pem", "keys/targets.pem.pub"] {
                let bytes = try Durable.readFile(
                    world.scratch.path("config/\(name)"),
                    maximum: .kibibytes(64)
                )
                try Durable.writeAtomically("\(folder)/\(name)", bytes, mode: 0o600)
            }
            let elsewhere = ["SEALIFT_CONFIG": folder + "/client.json"]
            let deny = ["deny", "vision/detector", "1.0.0", "--reason", "x", "--yes"]
            try world.run(deny + ["--dry-run"], environment: elsewhere).expecting(0)
            let out = folder + "/deny.proposal"
            try world.run(deny + ["--out", out], environment: elsewhere).expecting(0)
            try world.run(["metadata", "status"], environment: elsewhere).expecting(0)
            let refused = try world.run(deny, environment: elsewhere)
            #expect(
                refused.code != 0 && refused.errors.contains("as ‘administrator_token_file’"),
                "\(refused)"
            )
            #expect(refused.errors.contains("usb/client.json names it"), "\(refused)")
            try world.run(["role", "import", out, "--yes"]).expecting(0)

            // A token that has ended is told by its file, and found by doctor.
            try world.run(["token", "revoke", world.registry, "init"]).expecting(0)
            let late = try world.release("1.1.0").expecting(1)
            #expect(
                late.errors.contains("config/keys/token") && late.errors.contains("token create"),
                "\(late)"
            )
            let doctor = try world.run(["doctor"]).expecting(1)
            #expect(doctor.output.contains("problem: token, "), "\(doctor)")
        }

        @Test("what is not the file that was meant is told by name")
        func wrongFiles() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let publish = { (extra: [String]) in try world.release("1.0.0", extra) }
            let card = try world.scratch.write(
                "card.json",
                Array(#"{"licence":"MIT","type":"sealift/card@1"}"#.utf8)
            )
            let misspelt = try publish(["--card", card])
            #expect(
                misspelt.errors.contains("card.json: ") && misspelt.errors.contains("did you mean ‘license’?")
            )
            let root = try publish(["--root", world.scratch.path("config/ca.pem")])
            #expect(root.code == 2 && root.errors.contains("ca.pem is a PEM file"), "\(root)")
            let empty = try world.scratch.write("empty", [])
            chmod(empty, 0o600)
            #expect(try publish(["--root", empty]).errors.contains("empty is empty"))
            #expect(try publish(["--key", empty]).errors.contains("empty is empty"))
            #expect(try publish(["--card", empty]).errors.contains("empty is empty"))
            #expect(try publish(["--token-file", empty]).errors.contains("empty is empty"))
            let half = try publish(["--key", world.key("vision") + ".pub"])
            #expect(half.code == 2 && half.errors.contains("is the public half"), "\(half)")

            let locked = world.scratch.path("locked.pem")
            let secret = try world.scratch.write("secret", Array("open\n".utf8))
            chmod(secret, 0o600)
            try world.run(["keygen", locked, "--passphrase-file", secret]).expecting(0)
            let closed = try publish(["--key", locked, "--passphrase-fd", "77"])
            #expect(closed.code == 2 && closed.errors.contains("the descriptor is not open"), "\(closed)")
            let blank = try world.scratch.write("blank", Array("\nopen\n".utf8))
            chmod(blank, 0o600)
            let nothing = try publish(["--key", locked, "--passphrase-file", blank])
            #expect(
                nothing.code == 2 && nothing.errors.contains("the first line of \(blank) is empty"),
                "\(nothing)"
            )
            let neither = try world.run(["key", "revoke", "nosuch", "--yes"]).expecting(2)
            #expect(neither.errors.contains("neither the file of a public key nor a key ID"), "\(neither)")
            let stranger = world.scratch.path("stranger-token")
            let told = try world.run(["token", "create", world.registry, stranger, "--namespace", "nosuch"])
                .expecting(0)
            #expect(told.errors.contains("no namespace nosuch here yet"), "\(told)")
        }
    }
}
