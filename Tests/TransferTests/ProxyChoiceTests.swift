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
        "what names no proxy is not shown, since a password may be anywhere in it",
        arguments: [
            "http://user:pa ss@127.0.0.1:9", "http://user:secret", "http://user:p@ss@host:1",
            "http://u:p/w@host:1", "http://u:p#w@host:1", "http://u:p?w@host:1", "ftp://u:p@host:1",
            "http://u:p@host:99999", "http://u:p@:1", "http://u:p@host:1\n", "http://u:p@h%20st:1",
            "http://u:p@[::1", "user:12/34@host",
        ]
    )
    func malformed(_ value: String) {
        #expect(choice(["HTTPS_PROXY": value]) == .malformed(variable: "HTTPS_PROXY"))
    }

    @Test(
        "what names a proxy is taken as libcurl takes it, and shown without user and password",
        arguments: [
            ("http://u:p%20w@host:1/", "http://host:1/"), ("host", "host"), ("u@host:8080", "host:8080"),
            ("http://u:p@[::1]:3128", "http://[::1]:3128"),
            ("SOCKS5H://10.0.0.1:1080", "SOCKS5H://10.0.0.1:1080"),
        ]
    )
    func wellFormed(_ value: String, _ shown: String) {
        #expect(choice(["HTTPS_PROXY": value]) == .proxy(shown, variable: "HTTPS_PROXY"))
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
