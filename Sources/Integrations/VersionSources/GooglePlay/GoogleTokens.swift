// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine
import Signing
import Synchronization
import WireFormat

/// The access tokens of the service accounts in use. Sources of one account share its token. May be used from any thread.
final class GoogleTokens: Sendable {
    private struct Access {
        var machine = GoogleTokenMachine()
        /// The last failure: the reason that callers get while Google must not be asked again.
        var fault: SourceFault?
    }

    /// Locked while Google is asked for the account's token: only sources of the same account wait for it.
    private final class Account: Sendable {
        let access = Mutex(Access())
    }

    private let accounts = Mutex<[GoogleAccount: Account]>([:])

    /// Forgets the accounts that no source uses any more.
    func keep(_ sources: [VersionSource]) {
        let used = Set(
            sources.compactMap { if case .googlePlay(let source) = $0.kind { source.account } else { nil } })
        accounts.withLock { $0 = $0.filter { used.contains($0.key) } }
    }

    /// Returns the account's access token; asks Google for one where needed.
    func token(for source: GooglePlaySource, _ client: SourceClient) throws(SourceFault) -> String {
        guard let account = source.account else { throw SourceFault("the service account's key was not read") }
        let own = accounts.withLock { accounts in
            let own = accounts[account] ?? Account()
            accounts[account] = own
            return own
        }
        return try own.access.withLock { access throws(SourceFault) in
            try Self.token(for: source, account, client, &access)
        }
    }

    private static func token(
        for source: GooglePlaySource, _ account: GoogleAccount, _ client: SourceClient, _ one: inout Access
    ) throws(SourceFault) -> String {
        switch one.machine.tokenNeeded(at: client.clock()) {
        case .use(let token): return token.text
        case .ask(let meanwhile):
            do throws(SourceFault) {
                let token = try ask(account, source, client, &one.machine)
                one.fault = nil
                return token
            } catch {
                one.fault = error
                if let meanwhile { return meanwhile.text }
                throw error
            }
        case .wait(let until):
            var fault = one.fault ?? SourceFault("Google's token endpoint wants to be left alone for now")
            fault.retryAfter = until - client.clock()
            throw fault
        case .waitForAnswer: throw SourceFault("a token is being asked for")
        }
    }

    /// Drops a token that Google Play refused.
    func rejected(_ token: String, of source: GooglePlaySource) {
        guard let account = source.account else { return }
        accounts.withLock { $0[account] }?.access.withLock { $0.machine.rejected(token) }
    }

    private static func ask(
        _ account: GoogleAccount, _ source: GooglePlaySource, _ client: SourceClient,
        _ machine: inout GoogleTokenMachine
    ) throws(SourceFault) -> String {
        let response: HTTPResponse
        do {
            let assertion = try account.assertion(for: GoogleAccount.Scope.androidPublisher, at: client.clock())
            var request = HTTPRequest("POST", account.tokenURL)
            request.headers = [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
            ]
            request.body = GoogleAccount.tokenRequest(assertion)
            request.maximumResponse = GoogleTokenAnswer.maximumSize
            response = try client.send(request, to: .googleTokens, source.egress)
        } catch {
            machine.failed(retryAfter: nil, at: client.clock())
            throw SourceFault("no access token: \(error)")
        }
        switch GoogleTokenAnswer(
            status: response.status, body: response.body, scope: GoogleAccount.Scope.androidPublisher)
        {
        case .granted(let token, let lifetime):
            return machine.granted(token, lifetime: lifetime, at: client.clock()).text
        case .refused(let reason):
            machine.refused(at: client.clock())
            throw SourceFault(reason)
        case .unavailable(let reason):
            let retryAfter = client.retryAfter(response)
            machine.failed(retryAfter: retryAfter, at: client.clock())
            throw SourceFault(
                reason, isThrottled: [429, 503].contains(response.status), retryAfter: retryAfter)
        }
    }
}
