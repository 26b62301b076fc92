/// Names of SPDX's list of licences, as far as models bear them.
enum LicenseNames {
    /// A name as SPDX writes it, whatever its case; with `+`, the name of that licence or a later one.
    ///
    /// - Returns: `nil` for a name that is not known here.
    static func spelling(of name: String) -> String? {
        let isOpen = name.hasSuffix("+")
        let lower = (isOpen ? name.dropLast() : name[...]).lowercased()
        if let known = identifiers[lower] { return isOpen ? known + "+" : known }
        guard let known = aliases[lower] else { return nil }
        return isOpen ? known.replacing("-only", with: "-or-later") : known
    }

    private static let identifiers = Dictionary(
        all.map { ($0.lowercased(), $0) },
        uniquingKeysWith: { first, _ in first }
    )

    private static let all = [
        "Apache-2.0", "MIT", "MIT-0", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "BSD-3-Clause-Clear", "MPL-2.0",
        "ISC", "Unlicense", "CC0-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0",
        "CC-BY-SA-4.0", "CC-BY-NC-2.0", "CC-BY-NC-3.0", "CC-BY-NC-4.0", "CC-BY-ND-4.0", "CC-BY-NC-ND-3.0",
        "CC-BY-NC-ND-4.0", "CC-BY-NC-SA-2.0", "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0", "Artistic-2.0", "BSL-1.0",
        "EUPL-1.1", "EUPL-1.2", "OFL-1.1", "Zlib", "WTFPL", "AFL-3.0", "ECL-2.0", "EPL-1.0", "EPL-2.0",
        "LPPL-1.3c", "MS-PL", "NCSA", "OSL-3.0", "PostgreSQL", "ODbL-1.0", "ODC-By-1.0", "PDDL-1.0",
        "CDLA-Permissive-1.0", "CDLA-Permissive-2.0", "CDLA-Sharing-1.0", "C-UDA-1.0", "etalab-2.0",
        "LGPL-LR", "GFDL-1.3-only", "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later",
        "AGPL-3.0-only", "AGPL-3.0-or-later", "LGPL-2.1-only", "LGPL-2.1-or-later", "LGPL-3.0-only",
        "LGPL-3.0-or-later",
    ]

    /// Names that SPDX had before, and what it says they mean.
    private static let aliases = [
        "gpl-3.0": "GPL-3.0-only", "gpl-2.0": "GPL-2.0-only", "agpl-3.0": "AGPL-3.0-only",
        "lgpl-3.0": "LGPL-3.0-only", "lgpl-2.1": "LGPL-2.1-only",
    ]
}
