// SPDX-License-Identifier: Apache-2.0
package import Signing

/// An Apple developer team that may push.
package struct APNsTeam: Sendable {
    /// The bundle ids it may push to.
    package var topics: Set<String>
    /// `iss` of the provider tokens.
    package var teamID: String
    /// `kid` to public key.
    package var keys: [String: ES256PublicKey]
    /// Apple's environment for which the client's certificate must be valid. Default nil: any.
    package var world: APNsWorld?

    package init(topics: Set<String>, teamID: String, keys: [String: ES256PublicKey]) {
        self.topics = topics
        self.teamID = teamID
        self.keys = keys
    }
}
