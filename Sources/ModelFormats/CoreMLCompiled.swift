import CanonicalJSON
import Manifest
import Names

/// A compiled Core ML model, a folder in Apple's own undocumented form.
///
/// What a device runs is in files that only Apple's compiler understands.
/// `metadata.json` beside them is what the compiler wrote about the model, and
/// nothing makes it true: its interface is taken as declared, and only where
/// all of it is understood.
enum CoreMLCompiled {
    static func inspect(
        _ folder: String,
        in files: VariantFiles,
        _ limits: FormatLimits
    ) throws(VariantError) -> VariantInspection {
        guard let entry = FilePath(folder + "coremldata.bin"), files.has(entry) else {
            let problem = FormatError.VariantProblem.missing(folder + "coremldata.bin", neededBy: folder)
            throw VariantError(nil, .files(.coreMLCompiled, problem))
        }
        var inspection = Inspection(format: .coreMLCompiled)
        if let path = FilePath(folder + "metadata.json"), files.has(path) {
            let source = try files.open(path)
            let bytes: [UInt8]
            do {
                let file = FileBytes(source, format: .coreMLCompiled, limits: limits)
                bytes = try file.bytes(at: 0, count: file.length, limit: 4 << 20, "metadata.json")
            } catch { throw VariantError(path, error) }
            if let value = try? JSONParser.parse(bytes, maximumLength: 4 << 20),
                let model = value.array?.first, value.array?.count == 1
            {
                note(model, into: &inspection)
            }
        }
        return VariantInspection(entry: entry, inspection: inspection)
    }

    private static func note(_ model: JSONValue, into inspection: inout Inspection) {
        if let version = model["specificationVersion"]?.integer, (1...Int64(Int32.max)).contains(version) {
            inspection.requires = Requirements(specificationVersion: version)
        }
        inspection.metadata.documentation = model["shortDescription"]?.string ?? ""
        for key in ["author", "license", "version", "generatedClassName"] {
            guard let text = model[key]?.string, !text.isEmpty, text.utf8.count <= 65_536 else { continue }
            inspection.metadata.properties.append(ModelMetadata.Property(key: key, value: text))
        }
        guard let inputs = features(model["inputSchema"]), let outputs = features(model["outputSchema"]),
            !inputs.isEmpty
        else { return }
        inspection.interface = Interface(inputs: inputs, outputs: outputs, isDeclared: true)
        inspection.interface.states = features(model["stateSchema"]) ?? []
    }

    /// - Returns: `nil` when one of them is not understood.
    private static func features(_ value: JSONValue?) -> [Feature]? {
        guard let list = value?.array, list.count <= ShapeLimits.features else { return nil }
        var found: [Feature] = []
        var names: Set<String> = []
        for value in list {
            guard let name = value["name"]?.string.flatMap({ FeatureName($0) }), let type = type(value),
                names.insert(name.lookAlikeKey).inserted
            else { return nil }
            found.append(Feature(name: name, type: type, isOptional: value["isOptional"]?.string == "1"))
        }
        return found
    }

    private static func type(_ value: JSONValue) -> ValueType? {
        let elements: [String: ElementType] = [
            "Float32": .float32, "Float16": .float16, "Double": .float64, "Int32": .int32, "Int8": .int8,
        ]
        switch value["type"]?.string {
        case "MultiArray", "State":
            guard value["hasShapeFlexibility"]?.string == "0",
                let element = value["dataType"]?.string.flatMap({ elements[$0] }),
                let text = value["shape"]?.string,
                let shape = try? JSONParser.parse(Array(text.utf8), maximumLength: 1_024).array
            else { return nil }
            let sizes = shape.compactMap(\.integer)
            guard sizes.count == shape.count, (1...ShapeLimits.rank).contains(sizes.count),
                sizes.allSatisfy({ (0...ShapeLimits.dimension).contains($0) })
            else { return nil }
            return .tensor(TensorType(element: element, shape: .fixed(sizes)))
        case "Image":
            guard value["hasSizeFlexibility"]?.string == "0",
                let color = value["colorspace"]?.string.flatMap(ImageType.Color.init(rawValue:)),
                let width = value["width"]?.string.flatMap({ Int64($0) }),
                let height = value["height"]?.string.flatMap({ Int64($0) }),
                (1...ShapeLimits.dimension).contains(width), (1...ShapeLimits.dimension).contains(height)
            else { return nil }
            return .image(ImageType(color: color, width: width, height: height))
        case "Dictionary":
            switch value["keyType"]?.string {
            case "String": return .map(key: .string, of: .scalar(.float64))
            case "Int64": return .map(key: .int64, of: .scalar(.float64))
            default: return nil
            }
        case "String": return .scalar(.string)
        case "Int64": return .scalar(.int64)
        case "Double": return .scalar(.float64)
        default: return nil
        }
    }
}
