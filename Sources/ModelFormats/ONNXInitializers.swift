import Manifest

/// The initializers of the model's own graph: of each a number made of its name, and where it stands.
///
/// A file may have hundreds of thousands, and all that is asked is whether two
/// have one name, and what those are whose name is that of an input or
/// output. So sixteen bytes of each are kept, and where numbers are equal the
/// names are read again.
struct ONNXInitializers {
    /// What one says of itself, and the field that holds it.
    typealias Found = (tensor: ONNXTensor, field: ProtobufField)

    private struct Entry {
        let key: Int
        let offset: UInt64
    }

    private var entries: [Entry] = []
    private let limit: Int

    init(limits: FormatLimits) { limit = limits.values }

    /// The graph that they are in.
    private var graph: ProtobufMessage?

    mutating func add(_ tensor: ONNXTensor, at field: ProtobufField) throws(FormatError) {
        guard let name = FeatureName(tensor.name) else { throw field.error("initializer.name", .badName) }
        guard entries.count < limit else { throw field.limit("values of graphs", limit) }
        graph = field.message
        entries.append(Entry(key: name.hashValue, offset: field.offset))
    }

    /// Finds those with certain names.
    ///
    /// - Parameters:
    ///   - names: Of inputs and outputs.
    ///   - reader: Where they were read.
    /// - Returns: What there is, by name.
    /// - Throws: `FormatError.malformed` where any two have one name.
    mutating func named(
        _ names: [FeatureName],
        in reader: ProtobufReader
    ) throws(FormatError) -> [FeatureName: Found] {
        entries.sort { ($0.key, $0.offset) < ($1.key, $1.offset) }
        try checkDistinct(in: reader)
        var found: [FeatureName: Found] = [:]
        for name in names where found[name] == nil {
            for entry in entries[first(of: name.hashValue)...] {
                guard entry.key == name.hashValue else { break }
                if let one = try read(entry, in: reader), FeatureName(one.tensor.name) == name {
                    found[name] = one
                    break
                }
            }
        }
        return found
    }

    /// Goes through those that share a number, in the order in which the second of each stands in the file.
    private func checkDistinct(in reader: ProtobufReader) throws(FormatError) {
        let seconds = entries.indices.dropFirst().filter { index in
            entries[index].key == entries[index - 1].key
                && (index == 1 || entries[index].key != entries[index - 2].key)
        }
        for second in seconds.sorted(by: { entries[$0].offset < entries[$1].offset }) {
            var names: Set<FeatureName> = []
            for entry in entries[(second - 1)...] {
                guard entry.key == entries[second].key else { break }
                guard let one = try read(entry, in: reader), let name = FeatureName(one.tensor.name) else {
                    continue
                }
                guard names.insert(name).inserted else {
                    throw one.field.error("initializer.name", .duplicateName)
                }
            }
        }
    }

    /// The place of the first whose number is not below `key`.
    private func first(of key: Int) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func read(_ entry: Entry, in reader: ProtobufReader) throws(FormatError) -> Found? {
        guard let graph, let field = try reader.field(at: entry.offset, in: graph) else { return nil }
        let message = try field.message("initializer", in: reader)
        if field.number == 15 { return (try ONNXTensor(ofSparse: message, in: reader), field) }
        return (try ONNXTensor(of: message, in: reader), field)
    }
}

extension ONNXTensor {
    /// Name, type and sizes of a TensorProto that was read before; its data is not looked at again.
    fileprivate init(of message: ProtobufMessage, in reader: ProtobufReader) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: try field.append(to: &dimensions, "dims", limit: ShapeLimits.rank, in: reader)
            case 2: element = ONNXElements.element(UInt64(bitPattern: try field.integer("data_type")))
            case 8: name = try field.text("name", limit: 1_024, in: reader)
            default: break
            }
        }
    }

    /// The same of a SparseTensorProto, whose sizes are its own, and all else its values'.
    fileprivate init(ofSparse message: ProtobufMessage, in reader: ProtobufReader) throws(FormatError) {
        var values = ONNXTensor()
        var dimensions: [Int64] = []
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: values = try ONNXTensor(of: try field.message("values", in: reader), in: reader)
            case 3: try field.append(to: &dimensions, "dims", limit: ShapeLimits.rank, in: reader)
            default: break
            }
        }
        self = values
        self.dimensions = dimensions
    }
}
