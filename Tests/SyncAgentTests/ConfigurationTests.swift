import Names
import SyncAgent
import Testing

@Suite("Sync configuration")
struct ConfigurationTests {
    private func configuration(_ registry: String) throws -> SyncConfiguration {
        SyncConfiguration(
            directory: "device",
            registries: [registry],
            rootFile: "root.json",
            models: [try WantedModel("vision/detector")]
        )
    }

    @Test(
        "plain http, other schemes and things that are no address are usage errors that name the address",
        arguments: [
            "http://registry.example/", "http://registry.example:80/", "http://localhost.example/",
            "http://127.0.0.1.example/", "http://user@127.0.0.1/", "ftp://registry.example/",
            "registry.example",
            "https://", "https:///path", "https://a:0/", "https://a:65536/", "https://a:b/", "https://[::1/",
            "https://[::1]x/", "https://a/?b", "https://a/#b", "https://user:pw@registry.example/", "",
            "http://0.0.0.0/",
            "http://10.0.0.1/",
        ]
    )
    func refused(_ registry: String) throws {
        var configuration = try configuration(registry)
        configuration.allowsPlainLoopback = true
        let error = #expect(throws: SyncError.self) { try configuration.check() }
        #expect(error?.kind == .usage && error?.exitCode == 2)
        #expect(error?.message.contains(registry) == true)
    }

    @Test(
        "https is accepted",
        arguments: ["https://registry.example", "https://[::1]:8443/", "HTTPS://a.b:1/x/"]
    )
    func accepted(_ registry: String) throws { try configuration(registry).check() }

    @Test(
        "plain http to this machine needs the option",
        arguments: ["http://127.0.0.1:8080/", "http://localhost:8080/", "http://[::1]:8080/"]
    )
    func loopback(_ registry: String) throws {
        var configuration = try configuration(registry)
        #expect(throws: SyncError.self) { try configuration.check() }
        configuration.allowsPlainLoopback = true
        try configuration.check()
    }

    @Test(
        "a request is a channel or a version, and never both",
        arguments: [
            ("vision/detector", "vision/detector@stable"), ("vision/detector@beta", "vision/detector@beta"),
            ("vision/detector@1.4.0", "vision/detector@1.4.0"),
            ("vision/detector@=1.4.0", "vision/detector@1.4.0"),
        ]
    )
    func requests(_ text: String, _ expected: String) throws {
        #expect(try WantedModel(text).description == expected)
    }

    @Test(
        "anything else is no request",
        arguments: ["detector", "vision/detector@", "vision/detector@1.4", "a/b@=x", "A/b"]
    )
    func noRequest(_ text: String) { #expect(throws: SyncError.self) { try WantedModel(text) } }

    @Test("nothing to sync, and a model twice, are usage errors")
    func models() throws {
        var configuration = try configuration("https://registry.example/")
        configuration.models = []
        #expect(throws: SyncError.self) { try configuration.check() }
        configuration.models = [
            try WantedModel("vision/detector@stable"), try WantedModel("vision/detector@beta"),
        ]
        #expect(throws: SyncError.self) { try configuration.check() }
    }

    @Test("each kind of error has its exit code")
    func exitCodes() {
        let codes = SyncError.Kind.allCases.map { SyncError($0, "").exitCode }
        #expect(codes == [2, 1, 75, 4, 70, 5])
    }
}

@Suite("Routes to registries")
struct RouteTests {
    @Test("the proxy and the authority of each registry are shown, without the proxy's password")
    func routes() throws {
        let registries = ["https://models.example/", "https://mirror.local:8443/"]
        var configuration = SyncConfiguration(
            directory: "d",
            registries: registries,
            rootFile: "r",
            models: [try WantedModel("a/b@stable")]
        )
        configuration.caFile = "ca.pem"
        let environment = ["HTTPS_PROXY": "http://me:secret@proxy:3128", "NO_PROXY": ".local"]
        let routes = configuration.routes(environment: environment)
        #expect(routes.map(\.proxy) == ["http://proxy:3128", nil])
        #expect(routes.map(\.variable) == ["HTTPS_PROXY", "NO_PROXY"])
        #expect(routes.map(\.authority) == ["ca.pem", "ca.pem"])
        #expect(
            routes.map(\.description) == [
                "https://models.example/ through http://proxy:3128 (HTTPS_PROXY)",
                "https://mirror.local:8443/",
            ]
        )
    }
}
