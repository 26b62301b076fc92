/// The members of an object, always sorted by key, each key once.
///
/// Of a parsed document it is only a place in it: members are made when they
/// are asked for, one level at a time.
package struct JSONObject: Sendable {
    package struct Member: Equatable, Sendable {
        package let key: JSONText
        package var value: JSONValue
    }

    private enum Storage {
        case listed([Member])
        case parsed(JSONTree, node: Int)
    }

    private var storage: Storage

    package init() { storage = .listed([]) }

    init(_ tree: JSONTree, node: Int) { storage = .parsed(tree, node: node) }

    package var members: [Member] {
        switch storage {
        case .listed(let members): members
        case .parsed(let tree, let node):
            tree.keys(of: node).map { Member(key: tree.text(of: $0), value: tree.value(of: $0 + 1)) }
        }
    }

    /// Gives each member in turn and keeps none, for objects of very many.
    package func eachMember<Failure: Error>(
        _ body: (JSONText, JSONValue) throws(Failure) -> Void
    ) throws(Failure) {
        switch storage {
        case .listed(let members): for member in members { try body(member.key, member.value) }
        case .parsed(let tree, let node):
            var place = tree.firstKey(of: node)
            while let current = place {
                let (key, next) = tree.key(at: current, of: node)
                try body(tree.text(of: key), tree.value(of: key + 1))
                place = next
            }
        }
    }

    /// Whether `body` holds for every member.
    package func allMembers(satisfy body: (JSONText, JSONValue) -> Bool) -> Bool {
        var isSo = true
        eachMember { key, value in isSo = isSo && body(key, value) }
        return isSo
    }

    /// How many elements the array under `key` has, found without making any of them; `nil` when that is no array.
    package func elementCount(of key: String) -> Int? {
        switch storage {
        case .listed: self[key]?.array?.count
        case .parsed(let tree, let node):
            tree.member(JSONText(key), of: node).flatMap {
                tree.isArray($0) ? tree.elementCount(of: $0) : nil
            }
        }
    }

    package var keys: [String] { members.map(\.key.string) }

    package var count: Int {
        switch storage {
        case .listed(let members): members.count
        case .parsed(let tree, let node): tree.keys(of: node).count
        }
    }

    package var isEmpty: Bool {
        switch storage {
        case .listed(let members): members.isEmpty
        case .parsed(let tree, let node): tree.nodes[node].next == node + 1
        }
    }

    package subscript(key: JSONText) -> JSONValue? {
        switch storage {
        case .listed(let members):
            let index = Self.position(of: key, in: members)
            return index < members.count && members[index].key == key ? members[index].value : nil
        case .parsed(let tree, let node): return tree.member(key, of: node).map { tree.value(of: $0) }
        }
    }

    /// Where the object starts in the document that it was parsed from, or the value of one of its members.
    package func offset(of key: String? = nil) -> Int? {
        guard case .parsed(let tree, let node) = storage else { return nil }
        let wanted = key.map { tree.member(JSONText($0), of: node) } ?? node
        return wanted.map { Int(tree.nodes[$0].start) }
    }

    package subscript(key: String) -> JSONValue? {
        get { self[JSONText(key)] }
        set {
            let key = JSONText(key)
            var members = members
            // Not two owners while it changes: that would copy all of it.
            storage = .listed([])
            defer { storage = .listed(members) }
            let index = Self.position(of: key, in: members)
            let isThere = index < members.count && members[index].key == key
            switch (newValue, isThere) {
            case (let value?, true): members[index].value = value
            case (let value?, false): members.insert(Member(key: key, value: value), at: index)
            case (nil, true): members.remove(at: index)
            case (nil, false): break
            }
        }
    }

    /// Adds a member.
    ///
    /// - Returns: Whether `key` was new; if not, nothing changes.
    package mutating func add(_ key: JSONText, _ value: JSONValue) -> Bool {
        var members = members
        storage = .listed([])
        defer { storage = .listed(members) }
        let index = Self.position(of: key, in: members)
        guard index == members.count || members[index].key != key else { return false }
        members.insert(Member(key: key, value: value), at: index)
        return true
    }

    private static func position(of key: JSONText, in members: [Member]) -> Int {
        if let last = members.last, last.key < key { return members.count }
        var low = 0
        var high = members.count
        while low < high {
            let middle = (low + high) / 2
            if members[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The object's bytes in its document, when they are its OLPC canonical form.
    var canonicalSource: ArraySlice<UInt8>? {
        guard case .parsed(let tree, let node) = storage, tree.nodes[node].isCanonical else { return nil }
        return tree.source(of: node)
    }

    /// How long the object is in its document, white space included.
    var sourceLength: Int {
        guard case .parsed(let tree, let node) = storage else { return 0 }
        return tree.source(of: node).count
    }

    func write(into bytes: inout [UInt8], escapingControls: Bool) {
        if case .parsed(let tree, let node) = storage {
            tree.write(node, into: &bytes, escapingControls: escapingControls)
            return
        }
        bytes.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONValue.string(member.key).writeScalar(into: &bytes, escapingControls: escapingControls)
            bytes.append(UInt8(ascii: ":"))
            member.value.write(into: &bytes, escapingControls: escapingControls)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

extension JSONObject: Equatable {
    package static func == (left: Self, right: Self) -> Bool { left.members == right.members }
}
