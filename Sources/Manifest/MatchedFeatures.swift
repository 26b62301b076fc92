/// The features of one side, each with the one of its name on the other.
///
/// An app's and a model's, or an old model's and a new one's. Looked up once,
/// because names are all that is slow in a comparison.
struct MatchedFeatures {
    let mine: [Feature]
    private let theirs: [Feature]
    private let places: [Int?]

    /// Those of the other side that this one does not have.
    let added: [Feature]

    init(_ mine: [Feature], _ theirs: [Feature]) {
        self.mine = mine
        self.theirs = theirs
        var index: [FeatureName: Int] = Dictionary(minimumCapacity: theirs.count)
        for (place, feature) in theirs.enumerated() { index[feature.name] = place }
        var isKnown = [Bool](repeating: false, count: theirs.count)
        places = mine.map { feature in
            let place = index[feature.name]
            if let place { isKnown[place] = true }
            return place
        }
        added = theirs.indices.filter { !isKnown[$0] }.map { theirs[$0] }
    }

    /// - Returns: `nil` when the other side has none of that name.
    func counterpart(of index: Int) -> Feature? { places[index].map { theirs[$0] } }
}
