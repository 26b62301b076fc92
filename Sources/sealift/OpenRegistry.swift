import Blobs
import Durable
import Names
import Publishing
import Registry
import RegistryStoreSQLite

/// A registry's directory, opened by somebody on its own machine; `serve` may be running on it.
struct OpenRegistry {
    let store: SQLiteRegistryStore
    let layout: RegistryLayout

    init(_ directory: String, _ context: Context) throws {
        layout = RegistryLayout(context.absolute(directory))
        try layout.checkFinished()
        store = try SQLiteRegistryStore.open(path: layout.database, now: context.now)
    }

    /// Whether the administrators have given this namespace to somebody.
    func knows(_ namespace: Namespace) throws -> Bool {
        try Registry.knows(namespace, in: store)
    }

    /// The use cases that need the online key.
    func registry() throws -> Registry {
        _ = try layout.onlineSigners()
        return try Registry(
            store: store,
            blobs: try FolderBlobStore(directory: layout.blobs),
            onlineKeys: layout.onlineKeys
        )
    }
}
