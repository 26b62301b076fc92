import Blocking
import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import SyncAgent
import Testing

extension EndToEnd {
    /// A copy of the files behind a server that knows nothing of them: no ranges, no entity tags, no long-lived names.
    @Suite("A plain web server as a mirror", .serialized)
    struct PlainMirrorTests {
        /// Copies what is behind a registry: the metadata, the targets and the blobs that these name.
        private let copy = """
            import json, os, ssl, sys, urllib.parse, urllib.request

            base, authority, folder = sys.argv[1:4]
            context = ssl.create_default_context(cafile=authority)

            def get(path):
                data = urllib.request.urlopen(base + path, context=context).read()
                file = os.path.join(folder, urllib.parse.unquote(path))
                os.makedirs(os.path.dirname(file), exist_ok=True)
                with open(file, "wb") as out:
                    out.write(data)
                return data

            def blob(digest):
                get(f"blobs/sha256/{digest[:2]}/{digest}")

            timestamp = json.loads(get("metadata/timestamp.json"))["signed"]["meta"]["snapshot.json"]["version"]
            snapshot = json.loads(get(f"metadata/{timestamp}.snapshot.json"))["signed"]["meta"]
            for name, meta in snapshot.items():
                role = json.loads(get(f"metadata/{meta['version']}.{urllib.parse.quote(name)}"))["signed"]
                for target, listed in role["targets"].items():
                    place, _, last = target.rpartition("/")
                    data = get(f"targets/{place}/{listed['hashes']['sha256']}.{last}")
                    document = json.loads(data)
                    for variant in document.get("variants", []):
                        for file in variant["files"]:
                            blob(file["sha256"])
                            if "blocks" in file:
                                blob(file["blocks"]["list"]["sha256"])
            """

        @Test(
            "python3 -m http.server serves a device as the registry does, also after a download that was cut off"
        )
        func pythonServer() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let bytes = TestModel.bytes(label: "1.0.0", padding: 900_000)
            try world.publish(try world.scratch.write("model.onnx", bytes), "1.0.0").expecting(0)
            let mirror = world.scratch.path("mirror")
            let script = try world.scratch.write("mirror-files.py", Array(copy.utf8))
            let ca = "\(Durable.parent(of: world.configuration))/ca.pem"
            try world.shell("python3 '\(script)' '\(world.url)' '\(ca)' '\(mirror)'").finished(within: 60)
                .expecting(0)
            try world.stopServing()

            let server = try world.shell(
                "exec python3 -u -m http.server 0 --bind 127.0.0.1 --directory '\(mirror)' >http.out 2>&1"
            )
            defer { server.signal(15) }
            var port: Substring?
            let start = MonotonicTime.now
            while port == nil, MonotonicTime.now.seconds(since: start) < 20 {
                usleep(10_000)
                let file = try? Durable.readFile(world.scratch.path("http.out"), maximum: .mebibytes(1))
                let line = String(decoding: file ?? [], as: UTF8.self)
                port = line.firstMatch(of: /port ([0-9]+)/)?.1
            }
            let address = "http://127.0.0.1:\(try #require(port))/"
            let sync = [
                "sync", "--directory", world.device, "--model", "vision/detector@stable", "--registry",
                address,
                "--allow-plain-loopback",
            ]
            let cut = try world.start(sync + ["--rate", "200kB"])
            while try incoming(world) < 200_000, MonotonicTime.now.seconds(since: start) < 40 {
                usleep(10_000)
            }
            cut.signal(9)
            _ = try cut.finished(within: 20)
            #expect(try world.activeVersion() == nil)
            try world.run(sync).expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            #expect(try SyncedDevice(directory: world.device).verify() > 900_000)
            let second = try world.run(sync + ["--json"]).expecting(0)
            let report = try JSONParser.parse(Array(second.output.utf8), maximumLength: 1 << 20)
            #expect(report["bytes_fetched"]?.integer == 0, "\(second)")
        }

        /// The longest partial file.
        private func incoming(_ world: World) throws -> UInt64 {
            let folder = "\(world.device)/incoming"
            let names = (try? Durable.names(in: folder)) ?? []
            let lengths = names.compactMap { name -> UInt64? in
                guard case .file(let length, _)? = try? Durable.kind(of: "\(folder)/\(name)") else {
                    return nil
                }
                return length
            }
            return lengths.max() ?? 0
        }
    }
}
