import Testing
import Transfer

@Suite("Which proxy is used")
struct ProxyChoiceTests {
    private func choice(
        _ environment: [String: String],
        _ url: String = "https://models.example:8443/"
    ) -> ProxyChoice {
        ProxyChoice(for: url, environment: environment)
    }

    @Test("the variables are read in curl's order, and passwords are not shown")
    func order() {
        #expect(choice([:]) == .direct)
        #expect(
            choice(["HTTPS_PROXY": "http://a:1", "ALL_PROXY": "b"])
                == .proxy("http://a:1", variable: "HTTPS_PROXY")
        )
        #expect(choice(["https_proxy": "c", "HTTPS_PROXY": "a"]) == .proxy("c", variable: "https_proxy"))
        #expect(choice(["all_proxy": "socks5h://u:pw@d:2"]) == .proxy("socks5h://d:2", variable: "all_proxy"))
        #expect(choice(["http_proxy": "a", "HTTP_PROXY": "b"]) == .direct)
        #expect(choice(["https_proxy": "c"], "http://127.0.0.1/") == .direct)
    }

    @Test(
        "no_proxy takes hosts out by name and by domain, not by accident",
        arguments: [
            ("*", true), ("models.example", true), ("example", true), (".example", true),
            ("other, MODELS.example", true),
            ("ample", false), ("dels.example", false), ("", false), ("models.example.org", false),
        ]
    )
    func exempt(_ list: String, _ isExempt: Bool) {
        let found = choice(["https_proxy": "p", "no_proxy": list])
        #expect(found == (isExempt ? .exempt(variable: "no_proxy") : .proxy("p", variable: "https_proxy")))
    }
}
