import Glibc

/// A host in the words of a certificate: `DNS:registry.example` or `IP:192.0.2.1`.
struct SubjectName {
    let text: String

    /// OpenSSL reads the names as one comma-separated line, so nothing but
    /// letters, digits, `-` and `.` may get there.
    ///
    /// - Returns: `nil` for what is neither an address nor a DNS name (RFC 1123,
    ///   2.1; a `*` may stand for the first label).
    init?(_ host: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1 {
            text = "IP:\(host)"
            return
        }
        let labels = host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let named =
            labels.first.map { Array($0) == [UInt8(ascii: "*")] } == true ? labels.dropFirst() : labels[...]
        guard host.utf8.count <= 253, !named.isEmpty, named.allSatisfy({ Self.isLabel(Array($0)) }) else {
            return nil
        }
        // All digits at the end would be an address that could not be read as one.
        guard let last = named.last, last.contains(where: { !(0x30...0x39).contains($0) }) else { return nil }
        text = "DNS:\(host)"
    }

    private static func isLabel(_ label: [UInt8]) -> Bool {
        (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
            && label.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || $0 == 0x2D
            }
    }
}
