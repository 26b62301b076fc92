import Foundation
import Testing

@testable import ModelRuntimes

@Suite("Where ONNX Runtime is looked for")
struct ONNXRuntimeLocatorTests {
    private let folder: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "sealift-locator-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        folder = url.resolvingSymlinksInPath().path
    }

    private func put(_ name: String, mode: Int = 0o644, _ text: String = "library") throws -> String {
        let path = "\(folder)/\(name)"
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func locator(_ environment: [String: String], path: String? = nil) -> ONNXRuntimeLocator {
        ONNXRuntimeLocator(path: path, environment: environment, systemDirectories: ["\(folder)/system"])
    }

    @Test("an explicit path comes first, then the library, the directory, the environment, the system")
    func order() throws {
        let explicit = try put("a/anything.so")
        let library = try put("b/libonnxruntime.so.1.28.0")
        let directory = try put("c/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.28.0")
        let python = try put("d/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.27.0")
        let system = try put("system/libonnxruntime.so.1")
        var environment = [
            "SEALIFT_ORT_LIBRARY": library, "SEALIFT_ORT_DIR": "\(folder)/c", "VIRTUAL_ENV": "\(folder)/d",
        ]
        #expect(try locator(environment, path: explicit).locate() == explicit)
        #expect(try locator(environment).locate() == library)
        environment["SEALIFT_ORT_LIBRARY"] = nil
        #expect(try locator(environment).locate() == directory)
        environment["SEALIFT_ORT_DIR"] = nil
        #expect(try locator(environment).locate() == python)
        environment["VIRTUAL_ENV"] = nil
        #expect(try locator(environment).locate() == system)
    }

    @Test("the directory may also be the one that holds the library")
    func plainDirectory() throws {
        let path = try put("capi/libonnxruntime.so.1.28.0")
        #expect(try locator(["SEALIFT_ORT_DIR": "\(folder)/capi"]).locate() == path)
    }

    @Test("a link is followed to the file itself")
    func link() throws {
        let path = try put("real/libonnxruntime.so.1.28.0")
        let link = "\(folder)/libonnxruntime.so"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try locator([:], path: link).locate() == path)
    }

    @Test("nothing anywhere names every place and the line that installs it")
    func nothing() throws {
        let error = #expect(throws: ONNXRuntimeError.self) { try locator([:]).locate() }
        let text = try #require(error).description
        #expect(text.contains("\(folder)/system"))
        #expect(text.contains("pip install 'onnxruntime>=1.24,<1.29'"))
    }

    @Test("a file or directory that everybody may write is refused")
    func worldWritable() throws {
        let file = try put("open/libonnxruntime.so", mode: 0o666)
        #expect(throws: ONNXRuntimeError.self) { try locator([:], path: file).locate() }
        let inside = try put("shared/libonnxruntime.so")
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: "\(folder)/shared")
        let error = #expect(throws: ONNXRuntimeError.self) { try locator([:], path: inside).locate() }
        guard case .refused(let path, let reason) = error else {
            Issue.record("another error")
            return
        }
        #expect(path == inside)
        #expect(reason.contains("directory"))
    }

    @Test("a directory, a missing file and a relative variable are refused, not passed over")
    func wrongKinds() throws {
        _ = try put("system/libonnxruntime.so.1")
        #expect(throws: ONNXRuntimeError.self) { try locator([:], path: folder).locate() }
        #expect(throws: ONNXRuntimeError.self) { try locator([:], path: "\(folder)/none.so").locate() }
        #expect(throws: ONNXRuntimeError.self) {
            try locator(["SEALIFT_ORT_LIBRARY": "libonnxruntime.so"]).locate()
        }
        #expect(throws: ONNXRuntimeError.notFound(searched: ["\(folder)/none"])) {
            try locator(["SEALIFT_ORT_DIR": "\(folder)/none"]).locate()
        }
    }

    @Test("a file that is no library is not usable")
    func noLibrary() throws {
        let path = try put("text/libonnxruntime.so")
        let error = #expect(throws: ONNXRuntimeError.self) { try ORTFunctions(path: path) }
        guard case .notUsable(path, _) = error else {
            Issue.record("another error")
            return
        }
    }

    @Test(
        "1.24 is new enough, older and unreadable versions are not",
        arguments: [
            ("1.24.0", true), ("1.28.0", true), ("2.0.0", true), ("1.23.9", false), ("0.99.0", false),
            ("1", false), ("", false), ("one.two", false),
        ]
    )
    func versions(version: String, isNewEnough: Bool) {
        #expect(ORTFunctions.isNewEnough(version) == isNewEnough)
    }
}
