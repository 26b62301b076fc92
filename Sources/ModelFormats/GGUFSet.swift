import Manifest
import Names

/// A GGUF model in several files: every part, each once, in the places that they name.
enum GGUFSet {
    static func inspect(
        _ set: SetName,
        _ paths: [FilePath],
        in files: VariantFiles,
        _ limits: FormatLimits
    ) throws(VariantError) -> VariantInspection {
        var whole: Inspection?
        var tensors: [TensorRow] = []

        // A number of each name, equal for two in which people see the same; its seed is another one in each process.
        var names: Set<Int> = []
        var announced: UInt64?
        for (number, path) in paths.enumerated() {
            guard number < set.count else { throw problem(.stray("\(path)")) }
            guard SetName(path, extension: ".gguf")?.number == number + 1 else {
                throw problem(.missing(set.name(of: number + 1, extension: ".gguf"), neededBy: "\(path)"))
            }
            let part = try ModelCandidate.inspect(path, files, .gguf, limits)
            let split = part.split ?? GGUFSplit()
            guard split.count == UInt64(set.count), split.number == UInt64(number) else {
                let said = "it says that it is part \(split.number + 1) of \(split.count)"
                throw problem(.contradiction("\(path)", said))
            }
            if number == 0 {
                whole = part
                announced = split.tensors
            }
            guard split.tensors == announced else {
                func shown(_ count: UInt64?) -> String {
                    count.map { "\($0) tensors" } ?? "no number of tensors"
                }
                let said = "it announces \(shown(split.tensors)), and the first part \(shown(announced))"
                throw problem(.contradiction("\(path)", said))
            }
            if let first = whole?.interface, let said = difference(of: part.interface, from: first) {
                throw problem(.contradiction("\(path)", said))
            }
            for row in part.tensors where !names.insert(row.name.lookAlikeKey.hashValue).inserted {
                throw problem(.contradiction("\(path)", "it has tensor `\(row.name)` again, or one like it"))
            }
            tensors += part.tensors
            guard tensors.count <= limits.tensorsOfSet else {
                let limit = UInt64(limits.tensorsOfSet)
                let found = UInt64(tensors.count)
                throw VariantError(
                    path,
                    .limit(.gguf, which: "tensors of the set", offset: 0, found: found, limit: limit)
                )
            }
        }
        guard var whole, let first = paths.first else { throw problem(.noModel) }
        guard paths.count == set.count else {
            let next = set.name(of: paths.count + 1, extension: ".gguf")
            throw problem(.missing(next, neededBy: "\(first)"))
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

    /// What a part says of network and tokenizer that the first does not say: a runtime believes the first alone.
    private static func difference(of part: Interface, from first: Interface) -> String? {
        if let network = part.network {
            guard network.architecture == first.network?.architecture else {
                return "its architecture is not that of the first part"
            }
            for (key, fact) in NetworkFacts.numbers {
                guard let number = network[keyPath: fact], number != first.network?[keyPath: fact] else {
                    continue
                }
                return "its \(key) is \(number), which the first part does not say"
            }
        }
        let other = part.tokenizers.first { !first.tokenizers.contains($0) }
        return other.map { "its `\($0.name)` is not that of the first part" }
    }

    private static func problem(_ problem: FormatError.VariantProblem) -> VariantError {
        VariantError(nil, .files(.gguf, problem))
    }
}
