// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// A right that an API token can carry (CONTRACT, "right"). The raw values are on the wire.
package enum Scope: String, Sendable, Hashable, CaseIterable {
    case status
    case versions
    /// Reads people's data: telephones and push tokens. Changes and erases nothing.
    case users
    /// Registers and erases devices and users. Whoever may do that reads them, too.
    case devices
    case campaigns

    /// Whether who has this scope may do what `other` is needed for.
    package func covers(_ other: Scope) -> Bool { self == other || self == .devices && other == .users }
}

/// An API token as the store keeps it: only a hash of the secret.
package struct AccessToken: Hashable, Sendable {
    package var name: String
    package var scopes: Set<Scope>
    /// The apps that it is bound to, on every platform; nil: all.
    package var apps: Set<String>?
    package var createdAt: Timestamp
    package var revokedAt: Timestamp?
    /// When it was used last, to the minute; nil: never, or by an older release alone.
    package var usedAt: Timestamp?

    package init(
        name: String, scopes: Set<Scope>, apps: Set<String>? = nil, createdAt: Timestamp, revokedAt: Timestamp?
    ) {
        self.name = name
        self.scopes = scopes
        self.apps = apps
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

package protocol AccessTokenStore: Sendable {
    /// - Throws: `StoreError.nameTaken` when a token of that name exists, revoked or not.
    func addToken(_ token: AccessToken, hash: [UInt8], by actor: Principal) throws

    /// The token with this SHA-256, unless revoked.
    func token(hash: [UInt8]) throws -> AccessToken?

    func tokens() throws -> [AccessToken]

    func noteUse(ofToken hash: [UInt8], at now: Timestamp) throws

    /// False when there is no such token or it is revoked already.
    func revokeToken(name: String, by actor: Signature) throws -> Bool
}

/// Each under the key that signed it, for example "APNs/TEAMID/KEYID", for every relay that has the key.
package protocol ProviderTokenStore: Sendable {
    func providerToken(key: String) throws -> ProviderToken?

    /// Puts a token that was just signed in the place of the one of `known`, where `ProviderTokenMachine.mayReplace` lets it. Of
    /// several that do so at once one wins. It touches no pause.
    ///
    /// - Parameter known: when that was issued which is to be replaced; nil: none was there.
    /// - Returns: the token that is there now, this one or another. Another one is used, and this one is not.
    func mintProviderToken(
        _ token: ProviderToken, key: String, replacing known: Timestamp?, at now: Timestamp
    ) throws -> ProviderToken

    /// A server wants a pause (`ProviderToken.pause`). It touches no token.
    ///
    /// - Returns: false where nothing is kept of the key.
    func pauseProviderToken(key: String, until end: Timestamp, by server: String?, at now: Timestamp) throws -> Bool
}
