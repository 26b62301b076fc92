import Manifest
import ModelFormats
import Names
import Testing

/// Sets may have more tensors than one file: mixtures of experts have a hundred thousand.
@Suite("Sets with many tensors")
struct TensorSetTests {
    /// A safetensors file of so many tensors without elements, by their numbers.
    private static func shard(_ numbers: Range<Int>) -> [UInt8] {
        let entries = numbers.map { #""t\#($0)":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"# }
        let header = Array("{\(entries.joined(separator: ","))}".utf8)
        return (0..<8).map { UInt8(truncatingIfNeeded: header.count >> ($0 * 8)) } + header
    }

    /// A set of so many files with so many tensors each, and its index.
    private static func files(_ shards: Int, of count: Int) -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        var entries: [String] = []
        for shard in 0..<shards {
            let (name, numbers) = ("part-\(shard).safetensors", shard * count..<(shard + 1) * count)
            files[name] = Self.shard(numbers)
            entries += numbers.map { #""t\#($0)":"\#(name)""# }
        }
        files["model.safetensors.index.json"] = Array(
            #"{"metadata":{},"weight_map":{\#(entries.joined(separator: ","))}}"#.utf8
        )
        return files
    }

    private func count(
        _ files: [String: [UInt8]],
        _ limits: FormatLimits = FormatLimits()
    ) throws -> Int64? {
        try ModelFile.inspect(try Fixtures.variant(files), limits: limits).inspection.interface.tensors?.count
    }

    private func reason(_ files: [String: [UInt8]], _ limits: FormatLimits) -> FormatError? {
        do { _ = try count(files, limits) } catch { return (error as? VariantError)?.error }
        return nil
    }

    @Test("an index may have more tensors than any of its files, as many as a set may have")
    func many() throws {
        #expect(try count(Self.files(2, of: 33_000)) == 66_000)
        #expect(FormatLimits().tensorsOfSet >= 200_000)
    }

    @Test("a set with more tensors, longer names or more files than it may have is refused by that limit")
    func limits() throws {
        var limits = FormatLimits()
        limits.tensors = 3
        limits.tensorsOfSet = 9
        #expect(try count(Self.files(3, of: 3), limits) == 9)
        let refused = [
            "tensors": reason(Self.files(5, of: 2), limits),
            "tensors ": reason(Self.files(2, of: 4), limits),
        ]
        for (what, error) in refused {
            guard case .limit(.safetensors, "tensors", _, let found, let limit)? = error else {
                Issue.record("\(what): \(error.map { "\($0)" } ?? "taken")")
                continue
            }
            #expect(found == limit + 1)
        }
        limits.tensorNamesOfSet = 17
        guard case .limit(_, "bytes of tensor names", _, 18, 17)? = reason(Self.files(3, of: 3), limits)
        else {
            Issue.record("long names were taken")
            return
        }
        limits = FormatLimits()
        limits.externalFiles = 2
        guard case .limit(_, "files", _, 3, 2)? = reason(Self.files(3, of: 3), limits) else {
            Issue.record("many files were taken")
            return
        }
    }

    @Test("a GGUF set has the limit of sets, and each of its files that of files")
    func gguf() throws {
        let files = try Fixtures.contents("gguf", inside: "set")
        let whole = try #require(try count(files))
        var limits = FormatLimits()
        limits.tensorsOfSet = Int(whole)
        #expect(try count(files, limits) == whole)
        limits.tensorsOfSet -= 1
        guard case .limit(.gguf, "tensors of the set", _, let found, let limit)? = reason(files, limits)
        else {
            Issue.record("one more was taken")
            return
        }
        #expect(found == UInt64(whole) && limit == UInt64(whole) - 1)
    }

    @Test("a shard's name in another normal form is no path, also where one like it stood before")
    func normalForms() throws {
        func index(_ first: String, _ second: String) throws -> String? {
            let files = [
                "\u{E9}.safetensors": Self.shard(0..<2),
                "m.safetensors.index.json": Array(
                    #"{"weight_map":{"t0":"\#(first).safetensors","t1":"\#(second).safetensors"}}"#.utf8
                ),
            ]
            do { _ = try count(files) } catch { return "\(error)" }
            return nil
        }
        #expect(try index("\u{E9}", "\u{E9}") == nil)
        #expect(try index("\u{E9}", "e\u{301}")?.contains("weight_map") == true)
    }
}
