import CanonicalJSON

/// The files that a targets role lists, by path.
///
/// Those of a parsed file stay a part of it, checked once and read again when
/// somebody asks for one: a role may list a hundred thousand.
package struct TargetList: Sendable {
    private enum Storage {
        case listed([TargetPath: TargetFile])
        case parsed(JSONObject, RoleName)
    }

    private var storage: Storage

    package init(_ files: [TargetPath: TargetFile]) { storage = .listed(files) }

    /// - Throws: `TrustError.malformed` when any file is not described as TUF 1.0.34, 4.5 asks.
    init(_ object: JSONObject, role: RoleName) throws(TrustError) {
        try object.eachMember { (_, value) throws(TrustError) in try TargetFile.check(value, role: role) }
        storage = .parsed(object, role)
    }

    package subscript(path: TargetPath) -> TargetFile? {
        get {
            switch storage {
            case .listed(let files): files[path]
            case .parsed(let object, let role):
                object[path.description].flatMap { try? TargetFile($0, role: role) }
            }
        }
        set {
            var files = files
            storage = .listed([:])
            files[path] = newValue
            storage = .listed(files)
        }
    }

    package var keys: [TargetPath] { map(\.key) }

    package var isEmpty: Bool { count == 0 }

    package var count: Int {
        switch storage {
        case .listed(let files): files.count
        case .parsed(let object, _): object.count
        }
    }

    private var files: [TargetPath: TargetFile] {
        guard case .parsed(let object, let role) = storage else {
            if case .listed(let files) = storage { return files }
            return [:]
        }
        var files: [TargetPath: TargetFile] = [:]
        object.eachMember { path, value in files[TargetPath(path.string)] = try? TargetFile(value, role: role)
        }
        return files
    }

    var json: JSONObject {
        guard case .listed(let files) = storage else {
            if case .parsed(let object, _) = storage { return object }
            return JSONObject()
        }
        var object = JSONObject()
        for (path, file) in files.sorted(by: { $0.key < $1.key }) { object[path.description] = file.json }
        return object
    }
}

extension TargetList: Sequence {
    package func makeIterator() -> Dictionary<TargetPath, TargetFile>.Iterator { files.makeIterator() }
}

extension TargetList: Equatable {
    package static func == (left: Self, right: Self) -> Bool { left.files == right.files }
}

extension TargetList: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral entries: (TargetPath, TargetFile)...) {
        self.init(Dictionary(entries) { first, _ in first })
    }
}
