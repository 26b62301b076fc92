/// What a value is: the normal form that every format's own types are brought to.
package indirect enum ValueType: Equatable, Sendable {
    case tensor(TensorType)

    /// A tensor that is given as indices and values.
    case sparseTensor(TensorType)
    case image(ImageType)

    /// One number, bool or text outside any tensor.
    case scalar(ElementType)
    case map(key: ElementType, of: ValueType)
    case sequence(of: ValueType, count: Dimension)

    /// A value that may be missing at run time, as ONNX `optional`.
    case maybe(ValueType)

    /// A type that only its own operators know.
    case opaque(domain: String, name: String)

    /// For people: what kind of value this is.
    package var kind: String {
        switch self {
        case .tensor: "tensor"
        case .sparseTensor: "sparse_tensor"
        case .image: "image"
        case .scalar: "scalar"
        case .map: "map"
        case .sequence: "sequence"
        case .maybe: "maybe"
        case .opaque: "opaque"
        }
    }
}

/// A tensor's elements and shapes.
package struct TensorType: Equatable, Sendable {
    package var element: ElementType
    package var shape: Shape

    /// The shape that the file calls its default, where it says one.
    package var defaultShape: [Int64]?

    /// How stored integers become numbers, where the file says so.
    package var quantization: Quantization?

    package init(
        element: ElementType,
        shape: Shape,
        defaultShape: [Int64]? = nil,
        quantization: Quantization? = nil
    ) {
        self.element = element
        self.shape = shape
        self.defaultShape = defaultShape
        self.quantization = quantization
    }
}

/// `number = scale × (stored − zero)`, scale as decimal text because signed documents have no fractions.
package struct Quantization: Equatable, Sendable {
    package var scale: String
    package var zero: Int64

    package init(scale: String, zero: Int64) {
        self.scale = scale
        self.zero = zero
    }
}

/// An image's colours and sizes.
package struct ImageType: Equatable, Sendable {
    /// Layouts as Core ML names them; never converted silently.
    package enum Color: String, Sendable, CaseIterable {
        case rgb = "RGB"
        case bgr = "BGR"
        case grayscale = "GRAYSCALE"
        case grayscale16 = "GRAYSCALE_FLOAT16"
    }

    package var color: Color

    /// The default size, in pixels.
    package var width: Int64
    package var height: Int64
    package var sizes: ImageSizes

    package init(color: Color, width: Int64, height: Int64, sizes: ImageSizes = .fixed) {
        self.color = color
        self.width = width
        self.height = height
        self.sizes = sizes
    }
}

/// Which sizes an image may have beside its default.
package enum ImageSizes: Equatable, Sendable {
    case fixed

    /// Width and height in pixels, one pair of which it must be.
    case enumerated([ImageSize])

    /// Each by itself.
    case ranges(width: Dimension, height: Dimension)
}

/// Width and height in pixels.
package struct ImageSize: Equatable, Hashable, Sendable {
    package var width: Int64
    package var height: Int64

    package init(width: Int64, height: Int64) {
        self.width = width
        self.height = height
    }
}
