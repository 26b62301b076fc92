import Manifest

/// The local functions of a model, and who calls what of their domains.
///
/// A function is told apart by domain, name and overload (ONNX IR, Functions).
/// No two may be the same one, none may lead back to itself, and an operator
/// of a domain that no runtime brings must be one of them.
struct ONNXFunctions {
    /// Domain, name and overload, each after a byte that no text has.
    struct Identity: Hashable {
        private let bytes: [UInt8]

        init(domain: String, name: String, overload: String) {
            bytes = Array(domain.utf8) + [0xFF] + Array(name.utf8) + [0xFF] + Array(overload.utf8)
        }

        var length: Int { bytes.count }
    }

    /// One that is defined or called, or both.
    private struct Known {
        var isDefined = false

        /// The first call of it in a domain that no runtime brings.
        var call: (field: ProtobufField, name: String)?

        /// Which ones the function calls, by number.
        var calls: [Int32] = []
    }

    private let limits: FormatLimits
    private var numbers: [Identity: Int32] = [:]
    private var known: [Known] = []
    private var bytes: UInt64 = 0

    init(limits: FormatLimits) { self.limits = limits }

    /// Notes that a node calls `identity`.
    ///
    /// - Returns: The number of what is called.
    mutating func call(
        _ identity: Identity,
        _ name: String,
        isForeign: Bool,
        at field: ProtobufField
    ) throws(FormatError) -> Int32 {
        let number = try number(of: identity, at: field.offset)
        if isForeign, known[Int(number)].call == nil { known[Int(number)].call = (field, name) }
        return number
    }

    mutating func define(
        _ identity: Identity,
        calling calls: Set<Int32>,
        at message: ProtobufMessage
    ) throws(FormatError) {
        let offset = message.range.lowerBound
        let number = Int(try number(of: identity, at: offset))
        guard !known[number].isDefined else {
            throw .malformed(.onnx, field: "function.name", offset: offset, .duplicateName)
        }
        known[number].isDefined = true
        known[number].calls = calls.sorted()
    }

    private mutating func number(of identity: Identity, at offset: UInt64) throws(FormatError) -> Int32 {
        if let number = numbers[identity] { return number }
        let limit = UInt64(limits.functions)
        guard known.count < limits.functions else {
            throw .limit(
                .onnx,
                which: "operators of functions",
                offset: offset,
                found: limit + 1,
                limit: limit
            )
        }
        bytes += UInt64(identity.length)
        guard bytes <= limits.functionNames else {
            throw .limit(
                .onnx,
                which: "bytes of names of operators",
                offset: offset,
                found: bytes,
                limit: limits.functionNames
            )
        }
        let number = Int32(known.count)
        numbers[identity] = number
        known.append(Known())
        return number
    }

    /// Finds a call of what is not defined, and a function that leads back to itself.
    ///
    /// - Throws: `FormatError.malformed` at the first such call in the file, or without a place for a circle.
    func check(_ root: ProtobufMessage) throws(FormatError) {
        let undefined = known.compactMap { $0.isDefined ? nil : $0.call }
        if let first = undefined.min(by: { $0.field.offset < $1.field.offset }) {
            let name = String(first.name.prefix(128))
            throw first.field.error("op_type `\(name)`", .undefinedOperator)
        }
        guard !hasCircle else {
            throw .malformed(.onnx, field: "model.functions", offset: root.range.lowerBound, .recursion)
        }
    }

    /// Takes away, again and again, what calls nothing that is left: a circle is what stays.
    private var hasCircle: Bool {
        var callers = [[Int32]](repeating: [], count: known.count)
        var open = known.map(\.calls.count)
        for (number, one) in known.enumerated() {
            for called in one.calls { callers[Int(called)].append(Int32(number)) }
        }
        var free = open.indices.filter { open[$0] == 0 }
        var taken = 0
        while let number = free.popLast() {
            taken += 1
            for caller in callers[number] {
                open[Int(caller)] -= 1
                if open[Int(caller)] == 0 { free.append(Int(caller)) }
            }
        }
        return taken < known.count
    }
}
