// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import Signing
import Synchronization

/// The sources of FCM's access tokens that are in use, across reloads: one for each service account, however many apps push in
/// its name.
final class FCMTokenSources: Sendable {
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

    private let state = Mutex(State())

    /// Whom to tell when a token has come, or does not come.
    func tell(_ onChange: @escaping @Sendable () -> Void) {
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
                exchange: FCMTokenSource.overHTTPS(trustedCertificates: trustedCertificates, proxy: proxy),
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
