// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import PushProviders
package import RelayEngine
package import Signing
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

    private struct State: Sendable {
        var sources = InUse<File, APNsTokenSource>()
        var pauses: [Name: CredentialPause] = [:]
    }

    private let state = Mutex(State())
    package let fcm: FCMTokenSources
    let keys: KeyReader

    package init(fcm: FCMTokenSources = FCMTokenSources(), keys: KeyReader = KeyReader()) {
        (self.fcm, self.keys) = (fcm, keys)
    }

    /// The source of this key, made where none is in use.
    ///
    /// - Parameter make: is given what all that sign in the key's name have in common.
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

    /// The store has heard that another relay has changed a provider token or its pause: each key in use looks at its own. Reads the
    /// store; no push waits for that.
    package func refresh(at now: Timestamp) {
        for source in state.withLock({ $0.sources.all }) { source.refresh(at: now) }
    }

    // MARK: Provider tokens that this process has signed, whatever became of the routes that they were for

    private let signings = Atomic(0)

    var signed: Int { signings.load(ordering: .relaxed) }

    func noteSigned() { signings.add(1, ordering: .relaxed) }
}

/// What is in use, by its name: the routes that use it keep it.
struct InUse<Name: Hashable & Sendable, Source: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        weak var source: Source?
    }

    private var entries: [Name: Entry] = [:]

    var all: [Source] { entries.values.compactMap(\.source) }

    /// - Parameter make: called where none of the name is in use.
    mutating func source(_ name: Name, make: () throws -> Source) rethrows -> Source {
        if let source = entries[name]?.source { return source }
        let source = try make()
        entries = entries.filter { $1.source != nil }
        entries[name] = Entry(source: source)
        return source
    }
}

/// The sources of FCM's access tokens that are in use, across reloads: one for each service account, however many apps push in
/// its name.
package final class FCMTokenSources: Sendable {
    /// A key file, and the way to its token endpoint.
    private struct Name: Hashable {
        var account: GoogleAccount
        var egress: Egress
    }

    private struct State {
        var sources = InUse<Name, FCMTokenSource>()
        var onChange: @Sendable () -> Void = {}
    }

    /// How an access token is asked for, given the way to the endpoint.
    package typealias Exchange = @Sendable (_ egress: Egress) -> FCMTokenSource.Exchange

    private let exchange: Exchange
    private let start: FCMTokenSource.Start
    private let state = Mutex(State())

    /// - Parameters:
    ///   - exchange: who asks for access tokens. Default over HTTPS.
    ///   - start: what runs a question. Default a thread for each.
    package init(
        exchange: @escaping Exchange = FCMTokenSource.overHTTPS,
        start: @escaping FCMTokenSource.Start = FCMTokenSource.onOwnThread
    ) {
        (self.exchange, self.start) = (exchange, start)
    }

    /// Whom to tell when a token has come, or does not come.
    package func tell(_ onChange: @escaping @Sendable () -> Void) {
        state.withLock { $0.onChange = onChange }
    }

    func source(
        of account: GoogleAccount, egress: Egress, clock: @escaping @Sendable () -> Timestamp
    ) -> FCMTokenSource {
        state.withLock { state in
            let name = Name(account: account, egress: egress)
            return state.sources.source(name) {
                FCMTokenSource(
                    account: account, clock: clock, exchange: exchange(egress), start: start,
                    onChange: { [weak self] in self?.state.withLock { $0.onChange }() })
            }
        }
    }
}
