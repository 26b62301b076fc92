import Manifest

/// Signatures: functions with names of their own for a subgraph's inputs and outputs.
extension TFLiteReader {
    /// - Returns: `nil` when the file has none.
    mutating func readSignatures(
        _ model: FlatTable,
        _ subgraphs: [TFLiteSubgraph]
    ) throws(FormatError) -> Interface? {
        guard let vector = try model.vector(18, "signature_defs")?.atMost(ShapeLimits.functions),
            vector.count > 0
        else { return nil }
        var functions: [FunctionInterface] = []
        for index in 0..<vector.count {
            let function = try readSignature(try vector.table(index), subgraphs)
            guard !functions.contains(where: { $0.name.lookAlikeKey == function.name.lookAlikeKey }) else {
                let field = "\(vector.name)[\(index)].signature_key"
                throw file.malformed(field, vector.place(index), .duplicateName)
            }
            functions.append(function)
        }
        let serving = FeatureName("serving_default")
        let main = functions.remove(at: functions.firstIndex { $0.name == serving } ?? 0)
        var interface = Interface(inputs: main.inputs, outputs: main.outputs)
        interface.defaultFunction = main.name
        interface.functions = functions
        return interface
    }

    private mutating func readSignature(
        _ table: FlatTable,
        _ subgraphs: [TFLiteSubgraph]
    ) throws(FormatError) -> FunctionInterface {
        guard let key = FeatureName(try table.text(8, "signature_key", limit: 1_024) ?? "") else {
            throw table.error("signature_key", .badName)
        }
        let number = try table.number(12, "subgraph_index", default: UInt32(0))
        guard number < UInt32(subgraphs.count) else { throw table.error("subgraph_index", .badReference) }
        let subgraph = subgraphs[Int(number)]
        let (inputs, given) = try readFeatures(table, 4, "inputs", of: key, subgraph, from: subgraph.inputs)
        // The subgraph is run with all of its inputs: one without a name would hold what was in memory.
        for tensor in subgraph.inputs where !given.contains(tensor) {
            throw table.error("inputs `\(try subgraph.name(ofTensor: tensor))`", .missing)
        }
        guard given.count == inputs.count else { throw table.error("inputs", .duplicate) }
        let (outputs, _) = try readFeatures(table, 6, "outputs", of: key, subgraph, from: subgraph.outputs)
        return FunctionInterface(name: key, inputs: inputs, outputs: outputs)
    }

    /// A vector of TensorMap: a name, and the tensor that it stands for, which must be one of the subgraph's own.
    ///
    /// - Returns: What is named, and which tensors that is.
    private mutating func readFeatures(
        _ table: FlatTable,
        _ slot: UInt16,
        _ field: String,
        of key: FeatureName,
        _ subgraph: TFLiteSubgraph,
        from allowed: [Int]
    ) throws(FormatError) -> (features: [Feature], tensors: Set<Int>) {
        guard let vector = try table.vector(slot, field)?.atMost(ShapeLimits.features) else {
            return ([], [])
        }
        let allowed = Set(allowed)
        var features: [Feature] = []
        var tensors: Set<Int> = []
        var names: Set<String> = []
        for index in 0..<vector.count {
            let entry = try vector.table(index)
            try countSignatureValue(at: entry.position)
            guard let name = FeatureName(try entry.text(4, "name", limit: 1_024) ?? "") else {
                throw entry.error("name", .badName)
            }
            guard names.insert(name.lookAlikeKey).inserted else { throw entry.error("name", .duplicateName) }
            let tensor = Int(try entry.number(6, "tensor_index", default: UInt32(0)))
            guard allowed.contains(tensor) else { throw entry.error("tensor_index", .badReference) }
            tensors.insert(tensor)
            features.append(try subgraph.feature(named: name, tensor: tensor))
            let own = try subgraph.name(ofTensor: tensor)
            try note("\(key).\(field).\(name)", own.description, at: entry.position)
        }
        return (features, tensors)
    }
}
