import CanonicalJSON
import Manifest
import Names
import Signing

/// What a neural network does to its inputs before its first layer.
extension CoreMLReader {
    /// NeuralNetworkPreprocessing: of one feature, a scaler (10) or a mean image (11).
    mutating func readPreprocessing(_ field: ProtobufField) throws(FormatError) {
        let message = try field.message("preprocessing", in: reader)
        var feature = ""
        var found: JSONValue?
        var fields = ProtobufFields(message, singular: [1, 10, 11], in: reader)
        while let inner = try fields.next() {
            switch inner.number {
            case 1: feature = try inner.text("featureName", limit: 1_024, in: reader)
            case 10, 11:
                guard found == nil else { throw inner.error("preprocessor", .contradiction) }
                found =
                    try inner.number == 10
                    ? .members(["scaler": readScaler(try inner.message("scaler", in: reader))])
                    : .members(["mean_image": readMeanImage(try inner.message("meanImage", in: reader))])
            default: break
            }
        }
        guard let found else { return }
        let key = networkPath + FeatureName.key(of: feature)
        guard preprocessing[key] == nil else { throw field.error("featureName", .duplicate) }
        guard preprocessing.members.count < ShapeLimits.features else {
            throw field.limit("preprocessing", ShapeLimits.features)
        }
        try reader.spend(interface: 24 + key.utf8.count, at: field.offset)
        preprocessing[key] = found
    }

    /// Numbers that are left out are 0, so that those that are 0 are left out here.
    private func readScaler(_ message: ProtobufMessage) throws(FormatError) -> JSONValue {
        let names: [UInt32: String] = [
            10: "channel_scale", 20: "blue_bias", 21: "green_bias", 22: "red_bias", 30: "gray_bias",
        ]
        var said = JSONObject()
        var fields = ProtobufFields(message, singular: [10, 20, 21, 22, 30], in: reader)
        while let field = try fields.next() {
            guard let name = names[field.number] else { continue }
            let number = try field.float(name, in: reader)
            guard number.isFinite else { throw field.error(name, .notFinite) }
            if number != 0 { said[name] = .text("\(number)") }
        }
        return .object(said)
    }

    /// The numbers at 1, by how many they are and a digest of their bytes; they may be as many as pixels.
    private func readMeanImage(_ message: ProtobufMessage) throws(FormatError) -> JSONValue {
        var digest = DigestStream()
        var length: UInt64 = 0
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            let range: Range<UInt64>
            switch field.value {
            case .fixed32(let place): range = place..<place + 4
            case .payload(let packed): range = packed
            default: throw field.error("meanImage", .wrongWireType)
            }
            let count = range.upperBound - range.lowerBound
            guard count % 4 == 0 else {
                throw field.error("meanImage", .wrongLength(expected: count / 4 * 4, found: count))
            }
            try reader.spend(bytes: count, at: field.offset)
            var start = range.lowerBound
            while start < range.upperBound {
                let bytes = try reader.read(start, Int(min(range.upperBound - start, 65_536)))
                digest.update(bytes)
                start += UInt64(bytes.count)
            }
            length += count
        }
        return .members(["count": .integer(Int64(length / 4)), "sha256": .text(digest.finish().hex)])
    }
}
