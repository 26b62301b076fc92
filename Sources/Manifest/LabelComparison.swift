import CanonicalJSON
import Names

/// Labels are read by index, or, where every output names its classes, by name.
extension Comparison {
    /// Of one function: what the app knows of it, and what the model says.
    ///
    /// - Parameters:
    ///   - known: The app's, with the outputs that it reads.
    ///   - given: The model's.
    ///   - isOpen: Whether the app can meet labels that it does not know.
    ///   - prefix: ``function `f`, ``, or nothing for the default one.
    mutating func compareLabels(
        _ known: (labels: ClassLabels?, outputs: [Feature]),
        _ given: ClassLabels?,
        isOpen: Bool,
        prefix: String
    ) {
        let outputs = known.outputs
        guard let known = known.labels, known != given else { return }
        let subject = "\(prefix)labels"
        guard let given else {
            findings.append(
                Finding(
                    .labelGone,
                    subject,
                    app: "knows \(Counted.words(known.count, "class label"))",
                    model: "does not say its own",
                    remedy: "put the labels on the card and publish again"
                )
            )
            return
        }
        let isKeyed = !outputs.isEmpty && outputs.allSatisfy(\.type.namesClasses)
        switch LabelChange(from: known, to: given, isKeyed: isKeyed) {
        case .none: break
        case .reordered where isKeyed:
            notes.append("\(prefix)the class labels are in another order, and the app finds them by name")
        case .appended where isOpen:
            let labels = Counted.words(given.count, "class label")
            notes.append("\(prefix)the model has \(labels), and the app is open to new ones")
        case .reordered(let difference):
            findings.append(
                difference.finding(
                    .labelsReordered,
                    subject,
                    remedy: "take the labels from the manifest, by index"
                )
            )
        case .appended(let difference):
            findings.append(
                difference.finding(
                    .labelsAppended,
                    subject,
                    remedy: "say `open_labels` if the app can meet a label that it does not know"
                )
            )
        case .changed(let difference):
            findings.append(
                difference.finding(
                    .labelGone,
                    subject,
                    remedy: "make the app know the model's labels, or stay with a version that has the app's"
                )
            )
        }
    }
}

/// How one list of labels became another.
enum LabelChange: Equatable {
    /// The first place where they differ, for people.
    struct Difference: Equatable {
        let known: String
        let given: String

        func finding(_ row: ContractRow, _ subject: String, remedy: String) -> Finding {
            Finding(row, subject, app: "knows \(known)", model: "has \(given)", remedy: remedy)
        }
    }

    case none
    case reordered(Difference)
    case appended(Difference)
    case changed(Difference)

    init(from known: ClassLabels, to given: ClassLabels, isKeyed: Bool) {
        guard known != given else {
            self = .none
            return
        }
        let (mine, theirs) = (known.shown, given.shown)
        let isSameKind =
            switch (known, given) {
            case (.texts, .texts), (.integers, .integers): true
            default: false
            }
        let index = zip(mine, theirs).enumerated().first {
            !$0.element.0.utf8.elementsEqual($0.element.1.utf8)
        }
        let counts = Difference(known: "\(mine.count) of them", given: "\(theirs.count)")
        let difference =
            index.map { index in
                Difference(
                    known: "`\(index.element.0)` at \(index.offset)",
                    given: "`\(index.element.1)` there"
                )
            } ?? counts
        guard isSameKind else {
            self = .changed(
                Difference(known: "labels of another kind", given: "text for numbers, or the other way")
            )
            return
        }
        if known.sorted == given.sorted {
            self = .reordered(difference)
        } else if isKeyed, known.isContained(in: given) {
            // By name a label counts once, however many classes have it.
            let isMore = !given.isContained(in: known)
            let whatIsMore = mine.count < theirs.count ? counts : difference
            self = isMore ? .appended(whatIsMore) : .reordered(difference)
        } else if index == nil && theirs.count > mine.count {
            self = .appended(counts)
        } else if isKeyed, let missing = known.first(missingIn: given) {
            self = .changed(Difference(known: "`\(missing)`", given: "no label of that name"))
        } else {
            self = .changed(difference)
        }
    }
}

extension ValueType {
    /// Whether results carry their classes' names, so that indices do not matter.
    var namesClasses: Bool {
        switch self {
        case .map: true
        case .sequence(let element, _), .maybe(let element): element.namesClasses
        case .tensor(let tensor): tensor.element == .string
        case .scalar(let element): element == .string
        case .sparseTensor, .image, .opaque: false
        }
    }
}

extension ClassLabels {
    fileprivate var sorted: ClassLabels {
        switch self {
        case .texts(let labels): .texts(labels.sorted())
        case .integers(let labels): .integers(labels.sorted())
        }
    }

    fileprivate func isContained(in other: ClassLabels) -> Bool { first(missingIn: other) == nil }

    /// For people: the first label that `other` has not.
    fileprivate func first(missingIn other: ClassLabels) -> String? {
        switch (self, other) {
        case (.texts(let mine), .texts(let theirs)):
            let known = Set(theirs)
            return mine.first { !known.contains($0) }?.string
        case (.integers(let mine), .integers(let theirs)):
            let known = Set(theirs)
            return mine.first { !known.contains($0) }.map(String.init)
        default: return shown.first
        }
    }

    fileprivate var shown: [String] {
        switch self {
        case .texts(let labels): labels.map(\.string)
        case .integers(let labels): labels.map(String.init)
        }
    }
}
