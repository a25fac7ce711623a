// SPDX-License-Identifier: Apache-2.0
package import HTTPServer
import RelayStore
import Requirements
import Signing
import WireFormat

extension API {
    func tokens() throws -> Response {
        let tokens = try store.tokens()
        return .json { $0.page(tokens, next: nil) { $0.object($1, AccessToken.shape) } }
    }

    /// The secret is in this answer and nowhere else; the store keeps its hash.
    func createToken(body: [UInt8], by caller: Caller) throws -> Response {
        var fields = try BodyFields(body)
        let name = fields.requiredString("name", example: "ci")
        if let name, !Self.isName(name) {
            fields.refuse(
                "name",
                "1 to 64 letters, digits, dots, hyphens or underscores are needed; got \(JSONValue.string(name).sight)"
            )
        }
        let scopes = Self.scopes(&fields)
        let apps = apps(&fields)
        try fields.finish()
        let secret = "urt_" + Base64URL.encode(try RandomBytes.make(32))
        let token = AccessToken(name: name ?? "", scopes: scopes, apps: apps, createdAt: now(), revokedAt: nil)
        try store.addToken(token, hash: SHA256.digest(Array(secret.utf8)), by: caller.actor)
        tokenCache.forget()
        return .json(201) { $0.object((token: token, secret: secret), AccessToken.createdShape) }
    }

    func revokeToken(_ name: String, _ query: inout Query, by caller: Caller) throws -> Response {
        let shown = Shown(.revokeToken, in: &query)
        try query.finish()
        return try revokeToken(name, by: caller.confirming(shown))
    }

    package func revokeToken(_ name: String, by caller: Caller) throws -> Response {
        guard try store.revokeToken(name: name, by: Signature(by: caller.actor, at: now())) else {
            throw ProblemDetails(404, "there is no token \"\(JSONValue.shortened(name))\", or it is revoked already")
        }
        tokenCache.forget()
        return .noContent
    }

    /// The apps that a token is bound to; each must be configured, for a mistyped name would bind it to nothing.
    private func apps(_ fields: inout BodyFields) -> Set<String>? {
        guard let value = fields.take("apps") else { return nil }
        guard case .array(let elements) = value, !elements.isEmpty else {
            fields.refuse("apps", "an array of one or more apps is needed, or null for all; got \(value.sight)")
            return nil
        }
        guard fields.isWithin(.apps, elements.count, "apps") else { return nil }
        let configured = Set(control.apps().map(\.app))
        var apps: Set<String> = []
        for (index, element) in elements.enumerated() {
            if case .string(let name) = element, configured.contains(name) {
                apps.insert(name)
            } else {
                fields.refuse("apps[\(index)]", "the name of a configured app is needed; got \(element.sight)")
            }
        }
        return apps
    }

    private static func scopes(_ fields: inout BodyFields) -> Set<Scope> {
        let names = Scope.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        guard case .array(let elements)? = fields.take("scopes"), !elements.isEmpty else {
            fields.refuse("scopes", "an array of one or more of \(names) is needed")
            return []
        }
        guard fields.isWithin(.scopes, elements.count, "scopes") else { return [] }
        var scopes: Set<Scope> = []
        for (index, element) in elements.enumerated() {
            if case .string(let name) = element, let scope = Scope(rawValue: name) {
                scopes.insert(scope)
            } else {
                fields.refuse("scopes[\(index)]", "one of \(names) is needed; got \(element.sight)")
            }
        }
        return scopes
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122, 45, 46, 95: true
                default: false
                }
            }
    }
}

extension Scope {
    /// A list of scopes, in the order of the cases.
    static let schema = Schema.list(of: .words(Scope.self))

    static func names(of scopes: Set<Scope>) -> [String] { allCases.filter(scopes.contains).map(\.rawValue) }
}

extension AccessToken {
    /// The first members of both answers about a token.
    private static let bound = Shape<AccessToken>([
        .member(.name, .text) { $0.name },
        .member(.scopes, Scope.schema) { Scope.names(of: $0.scopes) },
        .nullable(
            .apps, .list(of: .text),
            "The apps that it is bound to, on every platform: it sees and changes no other app. null: all."
        ) { $0.apps?.sorted() },
    ])

    static let shape = Shape<AccessToken>(
        "AccessToken", "A token without its secret.",
        [
            bound.members { $0 },
            .member(.createdAt, .instant) { $0.createdAt },
            .nullable(.usedAt, .instant, "When it was last used, to the minute; null: never.") { $0.usedAt },
            .nullable(.revokedAt, .instant) { $0.revokedAt },
        ])

    static let createdShape = Shape<(token: AccessToken, secret: String)>(
        "CreatedToken", "A token with its secret.",
        [
            bound.members { $0.token },
            .member(.secret, .text, "The secret.") { $0.secret },
        ])
}
