// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import PushProviders
package import RelayEngine
package import Signing
import Synchronization

/// The sources of provider tokens in use, across reloads.
///
/// The routes of the old configuration go on until their requests in flight are answered. They share each key's source with
/// the new routes, so that an answer of APNs about the key, or a new token, counts for both at once.
package final class TokenSources: Sendable {
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
    package let fcm: FCMTokenSources
    let keys: KeyReader

    package init(fcm: FCMTokenSources = FCMTokenSources(), keys: KeyReader = KeyReader()) {
        (self.fcm, self.keys) = (fcm, keys)
    }

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

    /// Makes each key in use read its provider token and pause from the store again. Called when another relay has changed
    /// one. No push waits for the store here.
    package func refresh(at now: Timestamp) {
        for source in state.withLock({ $0.sources.all }) { source.refresh(at: now) }
    }

    // MARK: Provider tokens that this process has signed, for routes of all configurations

    private let signings = Atomic(0)

    var signed: Int { signings.load(ordering: .relaxed) }

    func noteSigned() { signings.add(1, ordering: .relaxed) }
}

/// Objects in use, by name: they live as long as a route holds them.
struct InUse<Name: Hashable & Sendable, Source: AnyObject & Sendable>: Sendable {
    private struct Entry: Sendable {
        weak var source: Source?
    }

    private var entries: [Name: Entry] = [:]

    var all: [Source] { entries.values.compactMap(\.source) }

    /// - Parameter make: called where no object of the name is in use.
    mutating func source(_ name: Name, make: () throws -> Source) rethrows -> Source {
        if let source = entries[name]?.source { return source }
        let source = try make()
        entries = entries.filter { $1.source != nil }
        entries[name] = Entry(source: source)
        return source
    }
}

/// The sources of FCM's access tokens in use, across reloads: one for each service account and egress, however many apps
/// use it.
package final class FCMTokenSources: Sendable {
    /// A service account's key, and the egress to its token endpoint.
    private struct Name: Hashable {
        var account: GoogleAccount
        var egress: Egress
    }

    private struct State {
        var sources = InUse<Name, FCMTokenSource>()
        var onChange: @Sendable () -> Void = {}
    }

    /// Makes the request for access tokens, given the egress to the endpoint.
    package typealias Exchange = @Sendable (_ egress: Egress) -> FCMTokenSource.Exchange

    private let exchange: Exchange
    private let start: FCMTokenSource.Start
    private let state = Mutex(State())

    /// - Parameters:
    ///   - exchange: asks for access tokens; by default over HTTPS.
    ///   - start: runs a request; by default on a thread of its own.
    package init(
        exchange: @escaping Exchange = FCMTokenSource.overHTTPS,
        start: @escaping FCMTokenSource.Start = FCMTokenSource.onOwnThread
    ) {
        (self.exchange, self.start) = (exchange, start)
    }

    /// Sets the function to call when a token has come or a request has failed.
    package func onChange(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.onChange = body }
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
