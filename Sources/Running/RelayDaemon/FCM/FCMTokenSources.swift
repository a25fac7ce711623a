// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import PushProviders
import RelayEngine
import Signing
import Synchronization

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
