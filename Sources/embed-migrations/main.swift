import Foundation

/// Writes the texts of `Migrations/NNNN_name.sql`, in order, as one Swift file.
///
/// Usage: `embed-migrations OUTPUT FILE...`. A gap or a double in the numbers
/// stops the build, because an installation that has applied 0001 and 0003
/// could never apply 0002.
func embed(_ arguments: [String]) throws {
    guard arguments.count >= 2 else { throw Stop("usage: embed-migrations OUTPUT FILE...") }
    let files = arguments.dropFirst().sorted()
    var source = "// Made from Migrations by embed-migrations. Do not edit.\n\n"
    source += "package let embeddedMigrations: [EmbeddedMigration] = [\n"
    for (index, file) in files.enumerated() {
        let name = URL(filePath: file).deletingPathExtension().lastPathComponent
        let digits = name.prefix(4)
        guard name.count > 5, digits.allSatisfy(\.isNumber), name.dropFirst(4).first == "_",
            Int(digits) == index + 1
        else {
            throw Stop("\(file): expected number \(index + 1); names are NNNN_words.sql without gaps")
        }
        let sql = try String(contentsOfFile: file, encoding: .utf8)
        guard !sql.contains("\"\"\"####") else { throw Stop("\(file): cannot be written as Swift text") }
        source += "    EmbeddedMigration(\n        number: \(index + 1),\n        name: \"\(name)\",\n"
        source += "        sql: ####\"\"\"\n\(sql)\n\"\"\"####\n    ),\n"
    }
    source += "]\n"
    try source.write(toFile: arguments[0], atomically: true, encoding: .utf8)
}

struct Stop: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

do {
    try embed(Array(CommandLine.arguments.dropFirst()))
} catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    exit(1)
}
