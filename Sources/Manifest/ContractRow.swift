/// The table of changes that compatibility and version numbers are decided by, one row a case.
///
/// `from` is what an app was made for, or the release before; `to` is the
/// model it meets. Verdicts are decided by set inclusion, and every obstacle
/// names the row that it belongs to; the steps of a version are decided by the
/// row and its direction. Where the last column has two words, the first is
/// for the harmless direction.
///
/// | # | what changes | input | output | version |
/// |---|---|---|---|---|
/// | 1 | nothing | fits | fits | patch |
/// | 2 | a name is gone or another | no | no, if read | major |
/// | 3 | a required input is added | no | | major |
/// | 4 | an optional input is added | fits | | minor |
/// | 5 | required becomes optional | fits | no, if always read | minor, major |
/// | 6 | optional becomes required | only if always sent | fits | major |
/// | 7 | an output is added | | fits | minor |
/// | 8 | another order | fits, unless found by position | the same | minor |
/// | 9 | the same element type | fits | fits | |
/// | 10 | an element type widens | if the app casts | if the app casts | minor |
/// | 11 | another element type | no | no | major |
/// | 12 | another number of dimensions | no | no | major |
/// | 13 | the number of dimensions is unknown | fits | only if read so | minor, major |
/// | 14 | a fixed size becomes free | fits | only if read so | minor, major |
/// | 15 | a free size becomes fixed, or another | only if that is sent | fits if read | major |
/// | 16 | a range of sizes | if all sent lie in it | if all given are read | minor, major |
/// | 17 | a list of whole shapes | if all sent are in it | if all given are read | minor, major |
/// | 18 | a symbol has another name | fits | fits | patch |
/// | 19 | two symbols become one | only if the app promises it | fits | major |
/// | 20 | another default shape | fits | fits | patch |
/// | 21 | an image's size or colours, a tensor's layout | equal, or of the set | equal | major |
/// | 22 | another kind of value | no | no | major |
/// | 23 | the same labels | | fits | patch |
/// | 24 | labels in another order | | fits by name, not by index | minor, major |
/// | 25 | labels are added at the end | | if the app is open to it | minor, major |
/// | 26 | a label is gone or another | | no, if the app names it | major |
/// | 27 | a tokenizer's bytes | equal, or the one that ships along | the same | major |
/// | 28 | what is done before | equal; inside the model, if the app says it | | major |
/// | 29 | what is done after | | equal; thresholds may move | minor, major |
/// | 30 | scale or zero of quantized values | equal, or read when it runs | the same | major |
/// | 31 | precision inside | fits | fits | minor |
/// | 32 | states between calls | only if the app does not handle them | | major |
/// | 33 | a function is added, or gone | only if not used | the same | minor, major |
/// | 34 | another format, or a variant is added; a variant is gone | if a runtime is here | the same | minor, major |
/// | 35 | more is required of the machine | not runnable here | the same | minor |
/// | 36 | the files do not say inputs and outputs | unknown, unless allowed or pinned | the same | minor, major |
///
/// In row 36 what such files do say counts: a network of another architecture
/// or embedding, or of a shorter context than the app relies on, does not fit,
/// and is a major step; a longer context fits, and is a minor one. A table of
/// tensors is the contract where nothing else is said (safetensors): another
/// one is a major step, and does not fit an app that pins it in `tensors`.
/// Where the file says its network (GGUF), another table is row 31.
package enum ContractRow: Int, Sendable, CaseIterable {
    case same = 1
    case nameGone, requiredInputAdded, optionalInputAdded, becameOptional, becameRequired
    case outputAdded, orderChanged, elementSame, elementWidened, elementChanged
    case rankChanged, rankUnknown, sizeFreed, sizeFixed, rangeChanged, shapeListChanged
    case symbolRenamed, symbolsMerged, defaultShapeChanged, imageChanged, kindChanged
    case labelsSame, labelsReordered, labelsAppended, labelGone
    case tokenizerChanged, preprocessingChanged, postprocessingChanged, quantizationChanged
    case precisionInside, statesChanged, functionsChanged, formatChanged, requirementRaised
    case interfaceUnknown

    /// For people: what changes in this row.
    package var title: String {
        switch self {
        case .same: "nothing changes"
        case .nameGone: "a name is gone or another"
        case .requiredInputAdded: "a required input is added"
        case .optionalInputAdded: "an optional input is added"
        case .becameOptional: "required becomes optional"
        case .becameRequired: "optional becomes required"
        case .outputAdded: "an output is added"
        case .orderChanged: "another order"
        case .elementSame: "the same element type"
        case .elementWidened: "an element type widens"
        case .elementChanged: "another element type"
        case .rankChanged: "another number of dimensions"
        case .rankUnknown: "the number of dimensions is unknown"
        case .sizeFreed: "a fixed size becomes free"
        case .sizeFixed: "a size becomes fixed, or another"
        case .rangeChanged: "another range of sizes"
        case .shapeListChanged: "another list of whole shapes"
        case .symbolRenamed: "a symbol has another name"
        case .symbolsMerged: "sizes that must be equal"
        case .defaultShapeChanged: "another default shape"
        case .imageChanged: "an image's size or colours, or a tensor's layout"
        case .kindChanged: "another kind of value"
        case .labelsSame: "the same labels"
        case .labelsReordered: "labels in another order"
        case .labelsAppended: "labels are added at the end"
        case .labelGone: "a label is gone or another"
        case .tokenizerChanged: "another tokenizer"
        case .preprocessingChanged: "another pre-processing"
        case .postprocessingChanged: "another post-processing"
        case .quantizationChanged: "another scale or zero of quantized values"
        case .precisionInside: "another precision inside"
        case .statesChanged: "other states between calls"
        case .functionsChanged: "other functions"
        case .formatChanged: "another format, or other variants"
        case .requirementRaised: "more is required of the machine"
        case .interfaceUnknown: "files that do not say inputs and outputs"
        }
    }
}
