import CanonicalJSON
import Manifest
import Names

/// Reads a Core ML specification (Model, of coremltools 9.0) without its weights.
///
/// In order: the description, which is the interface; the model itself, for
/// class labels, what is inside a pipeline, and kinds that need code or files
/// from elsewhere; of an ML Program its functions, whose inputs must be those
/// of the description, and the places of its weights.
struct CoreMLReader {
    static let format = ModelFormat.coreMLModel

    let reader: ProtobufReader
    var metadata = ModelMetadata()
    var metadataBytes: UInt64 = 0
    var propertyKeys: Set<[UInt8]> = []
    var program: CoreMLProgram?

    /// What neural networks do to their inputs, by feature; of one inside a pipeline with its place before that.
    var preprocessing = JSONObject()
    var networkPath = ""

    /// Read so far, of all pipelines.
    private var pipelineModels = 0

    /// Walked so far, of all programs.
    var operations = 0

    /// Where weights lie in other files: by file, the places of their records.
    var weights: [FilePath: Set<UInt64>] = [:]

    init(_ source: any ByteSource, limits: FormatLimits) {
        reader = ProtobufReader(source, format: Self.format, limits: limits)
    }

    consuming func inspection() throws(FormatError) -> Inspection {
        let model = try readModel(reader.root, isInside: false)
        guard let version = model.version, let description = model.description else {
            let field = model.version == nil ? "specificationVersion" : "description"
            throw .malformed(
                Self.format,
                field: "model.\(field)",
                offset: reader.root.range.upperBound,
                .missing
            )
        }
        guard model.kind != nil else {
            throw .malformed(Self.format, field: "model.Type", offset: reader.root.range.upperBound, .missing)
        }
        metadata.properties.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var inspection = Inspection(format: Self.format, interface: description.interface)
        inspection.interface.labels = model.labels
        if !preprocessing.members.isEmpty {
            inspection.interface.preprocessing = .members([Interface.insideKey: .object(preprocessing)])
        }
        inspection.requires = Requirements(
            specificationVersion: max(version, description.interface.leastSpecification(of: model.kind))
        )
        inspection.statedVersion = version
        inspection.externalFiles = weights.sorted { $0.key < $1.key }.map { path, places in
            ExternalFile(path: path, requiredLength: (places.max() ?? 0) + CoreMLWeights.recordLength)
        }
        inspection.weightRecords = weights.mapValues { $0.sorted() }
        inspection.metadata = metadata
        return inspection
    }

    /// What one Model message says, also one inside a pipeline.
    struct Model {
        var version: Int64?
        var description: CoreMLDescription?
        var kind: String?

        /// Of the default function, where there are several.
        var labels: ClassLabels?
    }

    /// Reads a Model; the words of one inside a pipeline are not those of the whole.
    mutating func readModel(_ message: ProtobufMessage, isInside: Bool) throws(FormatError) -> Model {
        var model = Model()
        var isProgram = false

        // What the description takes of what an interface may have.
        var described: UInt64 = 0
        var fields = ProtobufFields(message, singular: [1, 2, 10], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: model.version = try readVersion(field)
            case 2:
                let message = try field.message("description", in: reader)
                let before = reader.interfaceBytes
                model.description = try readDescription(message, isInside: isInside)
                described = reader.interfaceBytes - before
            case 10:
                guard try field.integer("isUpdatable") == 0 else {
                    throw .refused(Self.format, field: "isUpdatable", offset: field.offset, .trainable)
                }
            default:
                guard let kind = Self.kinds[field.number] else { continue }
                guard model.kind == nil else { throw field.error("Type", .contradiction) }
                model.kind = kind
                model.labels = try readKind(field, kind)
                // The description, which says what the functions are, may stand behind.
                isProgram = field.number == 502
            }
        }
        if isProgram, let program { model.labels = model.description?.take(program) }
        try model.description?.checkPredicted(against: model.labels)
        // By its own description: a pipeline may take more than a program inside it, or other values.
        if isProgram, let description = model.description { try program?.check(against: description) }
        if isInside {
            // Its inputs and outputs are not those of the whole.
            model.description = nil
            reader.interfaceBytes -= described
        } else if let kind = model.kind {
            try note("model_type", kind, at: message.range.lowerBound)
        }
        return model
    }

    /// From 1 to the greatest that this reader knows: a later one may mean other things by the same fields.
    private func readVersion(_ field: ProtobufField) throws(FormatError) -> Int64 {
        let version = try field.integer("specificationVersion")
        guard version >= 1 else { throw field.error("specificationVersion", .outOfRange) }
        guard version <= 10 else {
            throw field.error("specificationVersion", .unknownVersion(UInt64(version)))
        }
        return version
    }

    /// The choices of `Model.Type`.
    private static let kinds: [UInt32: String] = [
        200: "pipelineClassifier", 201: "pipelineRegressor", 202: "pipeline", 300: "glmRegressor",
        301: "supportVectorRegressor", 302: "treeEnsembleRegressor", 303: "neuralNetworkRegressor",
        304: "bayesianProbitRegressor", 400: "glmClassifier", 401: "supportVectorClassifier",
        402: "treeEnsembleClassifier", 403: "neuralNetworkClassifier", 404: "kNearestNeighborsClassifier",
        500: "neuralNetwork", 501: "itemSimilarityRecommender", 502: "mlProgram", 555: "customModel",
        556: "linkedModel", 560: "classConfidenceThresholding", 600: "oneHotEncoder", 601: "imputer",
        602: "featureVectorizer", 603: "dictVectorizer", 604: "scaler", 606: "categoricalMapping",
        607: "normalizer", 609: "arrayFeatureExtractor", 610: "nonMaximumSuppression", 900: "identity",
        2000: "textClassifier", 2001: "wordTagger", 2002: "visionFeaturePrint",
        2003: "soundAnalysisPreprocessing", 2004: "gazetteer", 2005: "wordEmbedding",
        2006: "audioFeaturePrint", 3000: "serializedModel",
    ]

    private mutating func readKind(_ field: ProtobufField, _ kind: String) throws(FormatError) -> ClassLabels?
    {
        let message = try field.message(kind, in: reader)
        switch field.number {
        case 555, 556, 3000:
            throw .refused(Self.format, field: kind, offset: field.offset, .modelKind(kind))
        case 200, 201: return try readPipelines(message, keepsLabels: field.number == 200)
        case 202: return try readPipeline(message)
        case 303, 403, 500: return try readNetwork(message)
        case 400, 401, 402, 404, 610: return try readLabels(of: message)
        case 502:
            try readProgram(message)
            return nil
        case 2000, 2001, 2004: return try readTags(of: message)
        default: return nil
        }
    }

    /// PipelineClassifier and PipelineRegressor: a message around a Pipeline.
    private mutating func readPipelines(
        _ message: ProtobufMessage,
        keepsLabels: Bool
    ) throws(FormatError) -> ClassLabels? {
        var labels: ClassLabels?
        var fields = ProtobufFields(message, singular: [1], in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            labels = try readPipeline(try field.message("pipeline", in: reader))
        }
        return keepsLabels ? labels : nil
    }

    /// - Returns: The labels of the last model.
    private mutating func readPipeline(_ message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var labels: ClassLabels?
        let path = networkPath
        defer { networkPath = path }
        var count = 0
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            networkPath = "\(path)models[\(count)]."
            count += 1
            guard pipelineModels < reader.limits.pipelineModels else {
                throw field.limit("models in pipelines", reader.limits.pipelineModels)
            }
            pipelineModels += 1
            labels = try readModel(try field.message("models", in: reader), isInside: true).labels
        }
        return labels
    }
}
