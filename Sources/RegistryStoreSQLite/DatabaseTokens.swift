import Names
import Registry
import SQLiteKit

/// Tokens, of which only digests are kept.
extension Database {
    func insertToken(_ token: Token, digest: Digest, now: UnixTime) throws(RegistryError) {
        try query { () throws(SQLiteError) in
            try connection.execute(
                """
                INSERT INTO token (sha256, scope, label, created_at, expires_at) VALUES (?, ?, ?, ?, ?)
                """,
                .blob(digest.bytes),
                .text(token.scope.description),
                .text(token.label),
                .integer(now.rawValue),
                .integer(token.expires.rawValue)
            )
        }
    }

    func token(_ digest: Digest) throws(RegistryError) -> Token? {
        let found = try query { () throws(SQLiteError) in
            try connection.first(
                "SELECT scope, label, expires_at FROM token WHERE sha256 = ? AND revoked_at IS NULL",
                .blob(digest.bytes)
            ) { row throws(SQLiteError) in (try row.text(0), try row.text(1), try row.time(2)) }
        }
        guard let (scope, label, expires) = found else { return nil }
        return Token(scope: try Self.scope(scope), label: label, expires: expires)
    }

    func tokens() throws(RegistryError) -> [IssuedToken] {
        let rows = try query { () throws(SQLiteError) in
            try connection.rows(
                "SELECT id, scope, label, created_at, expires_at, revoked_at FROM token ORDER BY id"
            ) { row throws(SQLiteError) in
                (
                    number: try row.integer(0), scope: try row.text(1), label: try row.text(2),
                    created: try row.time(3), expires: try row.time(4),
                    revoked: try row.optionalInteger(5).map { UnixTime(rawValue: $0) }
                )
            }
        }
        var tokens: [IssuedToken] = []
        for row in rows {
            let token = Token(scope: try Self.scope(row.scope), label: row.label, expires: row.expires)
            tokens.append(
                IssuedToken(number: row.number, token: token, created: row.created, revoked: row.revoked)
            )
        }
        return tokens
    }

    func revokeTokens(_ choice: TokenChoice, now: UnixTime) throws(RegistryError) -> [IssuedToken] {
        let chosen = try tokens().filter { issued in
            guard issued.revoked == nil else { return false }
            return switch choice {
            case .number(let number): issued.number == number
            case .label(let label): issued.token.label.utf8.elementsEqual(label.utf8)
            }
        }
        for issued in chosen {
            try query { () throws(SQLiteError) in
                try connection.execute(
                    "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                    .integer(now.rawValue),
                    .integer(issued.number)
                )
            }
        }
        return chosen
    }

    private static func scope(_ text: String) throws(RegistryError) -> Token.Scope {
        guard let scope = Token.Scope(text) else {
            throw .damaged(what: "a token", reason: "\(text) is no scope")
        }
        return scope
    }
}
