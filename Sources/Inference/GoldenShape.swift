/// The shapes of golden vectors, which say none of their own.
extension Port {
    /// Gives elements the shape that this port takes.
    func tensor(_ bytes: [UInt8], _ lengths: inout [String: Int]) throws(InferenceError) -> Tensor {
        guard case .tensor(let element, let shape) = kind, let size = element.size else {
            throw .golden(name: name, reason: "takes \(kind), of which no golden vector can be written")
        }
        guard bytes.count % size == 0 else {
            throw .golden(name: name, reason: "has \(bytes.count) bytes, no multiple of \(size)")
        }
        let count = bytes.count / size
        let dimensions: [PortDimension] =
            switch shape {
            case .unknownRank: [.any]
            case .dimensions(let dimensions): dimensions
            case .oneOf(let shapes):
                (shapes.first { (try? Tensor.count(of: $0)) == count } ?? []).map(PortDimension.fixed)
            }
        let wanted = try lengthsOf(dimensions, holding: count, &lengths)
        return try Tensor(element: element, shape: wanted, bytes: bytes)
    }

    private func lengthsOf(
        _ dimensions: [PortDimension],
        holding count: Int,
        _ lengths: inout [String: Int]
    ) throws(InferenceError) -> [Int] {
        var found: [Int?] = dimensions.map { dimension in
            switch dimension {
            case .fixed(let length): length
            case .symbol(let symbol): lengths[symbol]
            case .range, .oneOf, .any: nil
            }
        }
        let open = found.indices.filter { found[$0] == nil }
        for index in open.dropLast() { found[index] = 1 }
        var product = 1
        for length in found.compactMap(\.self) {
            let (next, overflow) = product.multipliedReportingOverflow(by: length)
            guard !overflow else { throw .golden(name: name, reason: "is too large") }
            product = next
        }
        if let last = open.last {
            guard product > 0, count % product == 0 else {
                throw .golden(name: name, reason: "has \(count) elements, no multiple of \(product)")
            }
            found[last] = count / product
        }
        for (dimension, length) in zip(dimensions, found) {
            if case .symbol(let symbol) = dimension { lengths[symbol] = length }
        }
        return found.compactMap(\.self)
    }
}
