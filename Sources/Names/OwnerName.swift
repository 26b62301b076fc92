/// What people call whoever holds a role: `Audio team`.
///
/// One line of 1 to 256 bytes without control characters. Shown beside the
/// role, outside its signatures and outside the log; nothing is trusted
/// because of it.
package struct OwnerName: Equatable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` for anything else.
    package init?(_ text: some StringProtocol) {
        guard (1...256).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        description = String(text)
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }
}
