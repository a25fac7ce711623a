// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import Signing
import Synchronization

/// The sources of provider tokens in use, across reloads: one for each key file, however many apps use it.
final class APNsTokenSources: Sendable {
    /// A key as Apple knows it.
    private struct Name: Hashable {
        var team: String
        var key: String
    }

    /// A key file. An operator may replace a wrong file with another for the same key id.
    private struct File: Hashable {
        var name: Name
        var publicKey: [UInt8]
    }

    private struct State: Sendable {
        var sources = InUse<File, APNsTokenSource>()
        var pauses: [Name: CredentialPause] = [:]
    }

    private let state = Mutex(State())

    /// The source of this key; makes one where none is in use.
    ///
    /// - Parameter make: gets the pause that all files of this key id share.
    func source(
        team: String, keyID: String, key: ES256PrivateKey, make: (CredentialPause) throws -> APNsTokenSource
    ) rethrows -> APNsTokenSource {
        try state.withLock { state in
            let name = Name(team: team, key: keyID)
            let pause = state.pauses[name] ?? CredentialPause()
            state.pauses[name] = pause
            return try state.sources.source(File(name: name, publicKey: key.publicKey.pem)) { try make(pause) }
        }
    }

    func refresh(at now: Timestamp) {
        for source in state.withLock({ $0.sources.all }) { source.refresh(at: now) }
    }

    private let signings = Atomic(0)

    var signed: Int { signings.load(ordering: .relaxed) }

    func noteSigned() { signings.add(1, ordering: .relaxed) }
}
