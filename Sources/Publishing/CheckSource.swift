import Durable
package import Inference
import Manifest
import ModelFormats
import Names

/// The golden vectors that somebody gives with `publish --checks`: a document, or a folder with test data.
///
/// A folder has documents (`*.json`), or test data as ONNX models come with:
/// folders `test_data_set_0`, … with `input_0.pb`, … and `output_0.pb`, …; or
/// it is such a folder itself. A tensor's name is that of a port, or its
/// number that of the port. Links are not followed.
package struct CheckSource {
    /// Golden vectors of one version, and bytes of all of their tensors.
    static let most = 64
    static let longest = ByteCount.mebibytes(256)

    let path: String
    let ports: ModelPorts

    /// Bytes of test data that were read.
    private var taken: UInt64 = 0

    package init(_ path: String, for ports: ModelPorts) {
        self.path = path
        self.ports = ports
    }

    /// Reads all of them; what they say is not checked against the ports.
    ///
    /// - Throws: `PublishingError.usage` for what cannot be read as golden vectors: it is an input of the command, and
    ///   says nothing about the model.
    package mutating func checks() throws(PublishingError) -> [WrittenCheck] {
        let checks: [WrittenCheck]
        switch try Self.kind(path) {
        case .file?: checks = try document(path)
        case .directory?: checks = try folder()
        default:
            throw .usage(
                "--checks \(path) is neither a file nor a folder; give a document of the type "
                    + "‘\(CheckDocument.type)’ or a folder with test data"
            )
        }
        guard checks.count <= Self.most else {
            throw .usage("\(path) has \(checks.count) checks; the most is \(Self.most)")
        }
        return checks
    }

    private static func kind(_ path: String) throws(PublishingError) -> FileKind? {
        do throws(DurableError) { return try Durable.kind(of: path) } catch { throw .file(error) }
    }

    private static func names(_ path: String) throws(PublishingError) -> [String] {
        do throws(DurableError) { return try Durable.names(in: path).sorted() } catch { throw .file(error) }
    }

    private mutating func folder() throws(PublishingError) -> [WrittenCheck] {
        let names = try Self.names(path)
        if names.contains("input_0.pb") { return [try testData(path, names)] }
        var checks: [WrittenCheck] = []
        for name in names {
            let place = "\(path)/\(name)"
            guard checks.count <= Self.most else { break }
            switch try Self.kind(place) {
            case .file? where name.hasSuffix(".json"): checks += try document(place)
            case .directory? where Self.number(name, after: "test_data_set_", before: "") != nil:
                checks.append(try testData(place, try Self.names(place)))
            default: break
            }
        }
        guard !checks.isEmpty else {
            throw .usage(
                "\(path) has no checks: neither a document ‘*.json’ nor a folder ‘test_data_set_0’ with ‘input_0.pb’"
            )
        }
        return checks
    }

    private func document(_ file: String) throws(PublishingError) -> [WrittenCheck] {
        let bytes: [UInt8]
        do throws(DurableError) {
            bytes = try Durable.readFile(file, maximum: ByteCount(TensorJSON.maximumLength))
        } catch {
            if case .tooLong = error { throw .usage("\(error); split it, with --checks for each") }
            throw .file(error)
        }
        do throws(InferenceError) {
            return try CheckDocument.checks(bytes, for: ports, named: file)
        } catch { throw .usage("\(file): \(error)") }
    }

    /// One folder of ONNX test data.
    private mutating func testData(
        _ folder: String,
        _ names: [String]
    ) throws(PublishingError) -> WrittenCheck {
        WrittenCheck(
            name: folder,
            inputs: try tensors("input_", names, folder, ports.inputs),
            outputs: try tensors("output_", names, folder, ports.outputs)
        )
    }

    private mutating func tensors(
        _ prefix: String,
        _ names: [String],
        _ folder: String,
        _ ports: [Port]
    ) throws(PublishingError) -> [String: Tensor] {
        var tensors: [String: Tensor] = [:]
        for name in names {
            guard let number = Self.number(name, after: prefix, before: ".pb") else { continue }
            let (port, tensor) = try tensor("\(folder)/\(name)", number, ports)
            guard tensors.updateValue(tensor, forKey: port) == nil else {
                throw .usage("\(folder)/\(name): ‘\(port)’ stands in another file too")
            }
        }
        return tensors
    }

    private mutating func tensor(
        _ file: String,
        _ number: Int,
        _ ports: [Port]
    ) throws(PublishingError) -> (String, Tensor) {
        guard case .file(let length, _)? = try Self.kind(file) else {
            throw .usage("\(file) is no regular file")
        }
        taken = taken.addingReportingOverflow(length).overflow ? .max : taken + length
        guard taken <= Self.longest.rawValue else {
            throw .usage("\(path): the test data up to \(file) has more than \(Self.longest)")
        }
        let source: FileSource
        do throws(DurableError) { source = try FileSource(file) } catch { throw .file(error) }
        let read: ONNXTensorFile
        do throws(FormatError) { read = try ONNXTensorFile(source) } catch {
            throw .usage("\(file): \(error)")
        }
        let named = ports.first { $0.name.utf8.elementsEqual(read.name.utf8) }
        guard let port = named ?? (ports.indices.contains(number) ? ports[number] : nil) else {
            throw .usage(
                "\(file): the model has neither a port ‘\(Shown.short(read.name))’ nor one of the number \(number)"
            )
        }
        guard let element = Tensor.Element(rawValue: read.element.rawValue) else {
            throw .usage("\(file): \(read.element.rawValue) cannot stand in a golden vector")
        }
        do throws(InferenceError) {
            let shape = read.dimensions.map { Int(clamping: $0) }
            return (port.name, try Tensor(element: element, shape: shape, bytes: read.bytes))
        } catch { throw .usage("\(file): \(error)") }
    }

    private static func number(_ name: String, after prefix: String, before suffix: String) -> Int? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        let digits = name.dropFirst(prefix.count).dropLast(suffix.count)
        guard (1...4).contains(digits.count), digits.allSatisfy({ ("0"..."9").contains($0) }) else {
            return nil
        }
        return Int(digits)
    }
}
