import Manifest

/// What parts of an interface take, about as bytes of JSON where sizes have some digits.
///
/// Counted before a part is kept: an interface that no manifest could hold is
/// given up at once, and not after all of it was read.
enum InterfaceCost {
    /// A value with its type, without its name and shape.
    static func feature(_ name: FeatureName) -> Int { 56 + name.description.utf8.count }

    static func dimension(_ dimension: Dimension) -> Int {
        guard case .symbol(let name) = dimension else { return 12 }
        return 12 + name.description.utf8.count
    }

    /// One whole shape of several.
    static func shape(_ rank: Int) -> Int { 4 + 4 * rank }

    /// One size of an image of several, written as a shape is.
    static let imageSize = shape(2)
}
