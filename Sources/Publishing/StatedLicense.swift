import Manifest
import Names

/// A licence as a README or a model file names it, as SPDX writes it.
///
/// Hubs write SPDX's names in lower case, and have names of their own; only
/// what is certain is taken, since it is signed.
enum StatedLicense {
    /// Why no licence is taken.
    struct Trouble: Error { let reason: String }

    /// - Parameters:
    ///   - names: What stands where the licence is named.
    ///   - own: The name that ‘other’ stands for.
    ///   - key: Where that one stands.
    /// - Returns: An SPDX expression, or why it is none.
    static func expression(
        _ names: [String],
        named own: String?,
        _ key: String
    ) -> Result<String, Trouble> {
        guard let name = names.first, names.count == 1 else {
            return .failure(
                Trouble(reason: "it names \(names.count) licences, not whether all hold or any may be chosen")
            )
        }
        if name == "other" {
            guard let own, LicenseExpression.isName(own) else {
                return .failure(Trouble(reason: "it says ‘other’ and no `\(key)` of letters and digits"))
            }
            return .success("LicenseRef-\(own)")
        }
        guard let expression = LicenseExpression(name) else {
            return .failure(Trouble(reason: "‘\(Shown.short(name))’ is no SPDX expression"))
        }
        // What is in lower case alone is a hub's name, and none of SPDX's that are known here.
        if let stranger = expression.unknownNames.first(where: { $0 == $0.lowercased() }) {
            return .failure(Trouble(reason: "‘\(stranger)’ is no name that SPDX has"))
        }
        return .success(expression.description)
    }
}
