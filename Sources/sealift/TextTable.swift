import Arguments

/// Rows in columns of equal width, for people; the last column is as long as it needs to be.
enum TextTable {
    /// - Parameters:
    ///   - header: The names of the columns.
    ///   - rows: Each as long as the header; words of others may stand in them.
    /// - Returns: Indented by two spaces, one for each row.
    static func lines(_ header: [String], _ rows: [[String]]) -> [String] {
        // Escaped before they are measured; what is escaped already stays so.
        let all = [header] + rows.map { $0.map(PlainText.line) }
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            var line = "  "
            for (column, cell) in row.enumerated() {
                line += cell
                // Nothing after the last: one long cell would make every line as long.
                guard column < row.count - 1 else { break }
                line += String(repeating: " ", count: widths[column] - cell.count + 2)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
