import Manifest
import Names

/// A GGUF model in several files: every part, each once, in the places that they name.
enum GGUFSet {
    static func inspect(
        _ paths: [FilePath],
        in files: VariantFiles,
        _ limits: FormatLimits
    ) throws(VariantError) -> VariantInspection {
        var whole: Inspection?
        var first: FilePath?
        var tensors: [TensorRow] = []
        var names: Set<FeatureName> = []
        var announced: UInt64?
        for (number, path) in paths.enumerated() {
            guard let name = SetName(path, extension: ".gguf"), name.number == number + 1 else {
                let part = SetName(path, extension: ".gguf")?.name(of: number + 1, extension: ".gguf")
                throw problem(.missing(part ?? "part \(number + 1) of the set", neededBy: "\(path)"))
            }
            let part = try ModelCandidate.inspect(path, files, .gguf, limits)
            let split = part.split ?? GGUFSplit()
            guard split.count == UInt64(name.count), split.number == UInt64(number) else {
                let said = "it says that it is part \(split.number + 1) of \(split.count)"
                throw problem(.contradiction("\(path)", said))
            }
            if number == 0 {
                whole = part
                first = path
                announced = split.tensors
            }
            guard split.tensors == announced else {
                func shown(_ count: UInt64?) -> String {
                    count.map { "\($0) tensors" } ?? "no number of tensors"
                }
                let said = "it announces \(shown(split.tensors)), and the first part \(shown(announced))"
                throw problem(.contradiction("\(path)", said))
            }
            for row in part.tensors where !names.insert(row.name).inserted {
                throw problem(.contradiction("\(path)", "it has tensor `\(row.name)` again"))
            }
            tensors += part.tensors
            guard tensors.count <= limits.tensors else {
                throw problem(.contradiction("\(path)", "the set has more than \(limits.tensors) tensors"))
            }
        }
        guard var whole, let first, let last = paths.last else { throw problem(.noModel) }
        let count = SetName(last, extension: ".gguf")?.count ?? 0
        guard paths.count == count else {
            let part = SetName(last, extension: ".gguf")?.name(of: paths.count + 1, extension: ".gguf")
            throw problem(.missing(part ?? "part \(paths.count + 1) of \(count)", neededBy: "\(first)"))
        }
        guard announced == nil || announced == UInt64(tensors.count) else {
            let said = "it announces \(announced ?? 0) tensors, and the parts have \(tensors.count)"
            throw problem(.contradiction("\(first)", said))
        }
        whole.split = nil
        whole.tensors = tensors
        whole.interface.tensors = tensors.summary
        return VariantInspection(entry: first, inspection: whole)
    }

    private static func problem(_ problem: FormatError.VariantProblem) -> VariantError {
        VariantError(nil, .files(.gguf, problem))
    }
}
