import CanonicalJSON
import Manifest
import Names
import Testing

/// Documents that obey every rule, to be broken one rule at a time.
enum Samples {
    static func digest(_ byte: UInt8) throws -> Digest {
        try #require(Digest(bytes: Array(repeating: byte, count: 32)))
    }

    static func version(_ text: String) throws -> ModelVersion { try #require(ModelVersion(text)) }

    static func model() throws -> ModelName { try #require(ModelName("vision/detector")) }

    static func time(_ text: String = "2026-11-30T02:38:00Z") throws -> UnixTime {
        try #require(UnixTime(text))
    }

    static func file(_ path: String, _ length: UInt64, _ byte: UInt8) throws -> ManifestFile {
        let blocks = try BlockPlan.for(length: length).map { plan in
            let list = BlobReference(sha256: try digest(byte ^ 0x80), length: plan.listLength)
            return BlockListReference(size: plan.blockSize, list: list)
        }
        let path = try #require(FilePath(path))
        return ManifestFile(path: path, length: length, sha256: try digest(byte), blocks: blocks)
    }

    static func feature(
        _ name: String,
        _ shape: Shape,
        of element: ElementType = .float32,
        optional: Bool = false
    ) throws -> Feature {
        let type = ValueType.tensor(TensorType(element: element, shape: shape))
        return Feature(name: try #require(FeatureName(name)), type: type, isOptional: optional)
    }

    static func interface() throws -> Interface {
        let batch = Dimension.symbol(try #require(FeatureName("batch")))
        return Interface(
            inputs: [try feature("x", .dimensions([batch, .fixed(2_048)]), of: .int32)],
            outputs: [try feature("y", .dimensions([batch, .fixed(214)]))]
        )
    }

    static func manifest() throws -> ModelManifest {
        var description = ModelDescription()
        description.summary = "Names the type of a file"
        description.license = "Apache-2.0"
        description.licenseURL = "https://www.apache.org/licenses/LICENSE-2.0"
        description.intendedUse = "Routing"
        description.limitations = "None known"
        description.notes = "Ünïcödé stays"
        description.provenance = .members(["commit": .text("abc"), "epochs": .integer(3)])
        let files = [try file("model.onnx", 3_163_737, 1), try file("labels/names.txt", 100, 2)]
        var variant = Variant(
            name: try #require(VariantName("onnx-cpu")),
            format: .onnx,
            entry: files[0].path,
            compute: [.cpu, .gpu],
            requires: Requirements(irVersion: 8, opsets: ["ai.onnx": 15, "ai.onnx.ml": 2]),
            memory: MemoryNeed(resident: 10, peak: 20, measured: "estimated"),
            base: BaseModel(model: try model(), manifest: try digest(9)),
            files: files,
            folders: [try #require(FilePath("cache"))]
        )
        variant.requires.architecture = "x86-64"
        variant.requires.runtime = Requirements.Minimum(name: "onnxruntime", minimum: "1.24")
        return ModelManifest(
            model: try model(),
            version: try version("1.4.0"),
            created: try time(),
            description: description,
            interface: try interface(),
            variants: [variant],
            checks: [.members(["inputs": .array([])])],
            attestations: [Attestation(type: "oms", blob: BlobReference(sha256: try digest(7), length: 70))]
        )
    }
}

extension JSONValue {
    /// This value with another one at `path`, `nil` taking the member out.
    func with(_ path: [PathStep], _ value: JSONValue?) -> JSONValue {
        guard let step = path.first else { return value ?? .null }
        let rest = Array(path.dropFirst())
        switch step {
        case .key(let key):
            var object = object ?? JSONObject()
            object[key] = rest.isEmpty ? value : (object[key] ?? .null).with(rest, value)
            return .object(object)
        case .index(let index):
            var array = array ?? []
            guard rest.isEmpty else {
                array[index] = array[index].with(rest, value)
                return .array(array)
            }
            if let value { array[index] = value } else { array.remove(at: index) }
            return .array(array)
        }
    }
}

/// A member's name or an element's index.
enum PathStep: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, Sendable {
    case key(String)
    case index(Int)

    init(stringLiteral value: String) { self = .key(value) }

    init(integerLiteral value: Int) { self = .index(value) }
}

/// One change that makes a document wrong, and the member that the error must name.
struct Broken: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let path: [PathStep]
    let value: JSONValue?
    let named: String

    init(_ description: String, _ path: [PathStep], _ value: JSONValue?, named: String) {
        testDescription = description
        self.path = path
        self.value = value
        self.named = named
    }

    /// What a reader of the changed document says.
    func error<Document: CanonicalDocument>(changing document: Document) -> ManifestError? {
        let bytes = document.json.with(path, value).compactJSON
        return #expect(throws: ManifestError.self) { try Document(canonical: bytes) }
    }
}

extension ManifestError {
    /// The member that the error is about.
    var member: String? {
        switch self {
        case .missing(_, let member), .unknown(_, let member), .invalid(_, let member, _, _): member
        default: nil
        }
    }
}
