/// Finds the end of a request head as its bytes arrive.
///
/// The head is everything up to and with the first empty line. Each byte is
/// looked at once, however the head drips in. What no head may contain is
/// refused here at once, so that a peer which speaks something else (TLS to a
/// plain port, say) is not waited for:
///
/// - a line ends in CR LF: LF without CR and CR without LF are refused, though
///   RFC 9112, 2.2 lets a recipient take the bare LF. Where a proxy and we could
///   see different lines, a request could hide;
/// - no control character but the tab, and no DEL;
/// - no empty line before the request line.
package struct HeadScanner {
    private enum Place { case lineStart, withinLine, afterReturn(emptyLine: Bool) }

    private let limit: Int
    private var place = Place.lineStart
    private var isInRequestLine = true
    private(set) var scanned = 0

    /// - Parameter limit: the greatest length of a head in bytes.
    package init(limit: Int) { self.limit = limit }

    /// Looks at the bytes that came since the last call.
    ///
    /// - Parameter head: every byte since the start of the head.
    /// - Returns: the length of the head once it is complete.
    /// - Throws: the refusal of the first byte that no head may contain.
    package mutating func scan(_ head: Span<UInt8>) throws(HTTPRefusal) -> Int? {
        while scanned < head.count {
            guard scanned < limit else { throw isInRequestLine ? .targetTooLong : .headTooLarge }
            let byte = head[scanned]
            scanned += 1
            switch (place, byte) {
            case (.afterReturn(let emptyLine), 0x0A):
                if emptyLine { return scanned }
                isInRequestLine = false
                place = .lineStart
            case (.afterReturn, _), (_, 0x0A):
                throw .badLineEnd
            case (.lineStart, 0x0D):
                guard !isInRequestLine else { throw .badRequestLine }
                place = .afterReturn(emptyLine: true)
            case (.withinLine, 0x0D):
                place = .afterReturn(emptyLine: false)
            default:
                guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else { throw .controlCharacter }
                place = .withinLine
            }
        }
        return nil
    }
}
