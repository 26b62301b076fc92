package import CanonicalJSON
package import Names

/// The `signed` part of a metadata file.
package protocol SignedDocument: Sendable {
    var version: Int64 { get }
    var expires: UnixTime { get }

    /// When an online role was signed; a member of Sealift's own.
    var issued: UnixTime? { get }

    /// Decodes `signed` as a document of `role`. Called only on what quorums vouched for.
    init(signed: JSONValue, role: RoleName) throws(TrustError)

    /// The document as it is signed when Sealift writes it.
    var signed: JSONValue { get }
}
