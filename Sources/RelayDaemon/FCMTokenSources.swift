// SPDX-License-Identifier: Apache-2.0
package import PushProviders
import RelayEngine
import Signing
import Synchronization

/// The sources of FCM's access tokens that are in use, across reloads: one for each service account, however many apps push in
/// its name.
package final class FCMTokenSources: Sendable {
    /// A key file, and the way to its token endpoint.
    private struct Name: Hashable {
        var account: GoogleAccount
        var trustedCertificates: String?
        var proxy: String?
    }

    private struct InUse {
        /// The routes that use it keep it.
        weak var source: FCMTokenSource?
    }

    private struct State {
        var sources: [Name: InUse] = [:]
        var onChange: @Sendable () -> Void = {}
    }

    /// How an access token is asked for, given the certificates to trust and the proxy.
    package typealias Exchange = @Sendable (_ trustedCertificates: String?, _ proxy: String?) -> FCMTokenSource.Exchange

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
        of account: GoogleAccount, trustedCertificates: String?, proxy: String?,
        clock: @escaping @Sendable () -> Timestamp
    ) -> FCMTokenSource {
        state.withLock { state in
            let name = Name(account: account, trustedCertificates: trustedCertificates, proxy: proxy)
            if let source = state.sources[name]?.source { return source }
            let source = FCMTokenSource(
                account: account, clock: clock,
                exchange: exchange(trustedCertificates, proxy), start: start,
                onChange: { [weak self] in self?.changed() })
            state.sources = state.sources.filter { $1.source != nil }
            state.sources[name] = InUse(source: source)
            return source
        }
    }

    private func changed() {
        let onChange = state.withLock { $0.onChange }
        onChange()
    }
}
