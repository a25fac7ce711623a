// SPDX-License-Identifier: Apache-2.0
import PushProviders
import Signing
import Synchronization

/// The sources of provider tokens that are in use, across reloads.
///
/// The routes of the old configuration work on until what they have in flight has its answers. What APNs says to them of a
/// key, and what they sign, is at once what the new routes of that key go by: both have the same source.
package final class TokenSources: Sendable {
    /// As Apple knows a key.
    private struct Name: Hashable {
        var team: String
        var key: String
    }

    /// A key file. An operator who had named a wrong one brings another of the same name.
    private struct File: Hashable {
        var name: Name
        var publicKey: [UInt8]
    }

    private struct InUse {
        /// The routes that use it keep it.
        weak var source: APNsTokenSource?
    }

    private struct State {
        var sources: [File: InUse] = [:]
        var pauses: [Name: CredentialPause] = [:]
    }

    private let state = Mutex(State())
    package let fcm: FCMTokenSources

    package init(fcm: FCMTokenSources = FCMTokenSources()) {
        self.fcm = fcm
    }

    /// The source of this key, made where none is in use.
    ///
    /// - Parameter make: is given what all that sign in the key's name have in common.
    func source(
        team: String, keyID: String, key: ES256PrivateKey, make: (CredentialPause) throws -> APNsTokenSource
    ) rethrows -> APNsTokenSource {
        try state.withLock { state in
            let name = Name(team: team, key: keyID)
            let file = File(name: name, publicKey: key.publicKey.pem)
            if let source = state.sources[file]?.source { return source }
            let pause = state.pauses[name] ?? CredentialPause()
            let source = try make(pause)
            state.sources = state.sources.filter { $1.source != nil }
            state.sources[file] = InUse(source: source)
            state.pauses[name] = pause
            return source
        }
    }
}
