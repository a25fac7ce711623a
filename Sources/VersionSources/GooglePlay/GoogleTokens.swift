// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import RelayEngine
import Signing
import WireFormat

/// The access tokens of the service accounts that are in use. Sources of one account share its token.
struct GoogleTokens {
    private struct Access {
        var machine = GoogleTokenMachine()
        /// Why there is none, while Google is not asked.
        var fault: SourceFault?
    }

    private static let timeout = Duration.seconds(20)

    private var accesses: [GoogleAccount: Access] = [:]

    /// Forgets the accounts that nobody uses any more.
    mutating func keep(_ sources: [VersionSource]) {
        let accounts = Set(
            sources.compactMap { if case .googlePlay(let source) = $0.kind { source.account } else { nil } })
        accesses = accesses.filter { accounts.contains($0.key) }
    }

    /// Asks Google where it has to.
    mutating func token(for source: GooglePlaySource, _ client: SourceClient) throws(SourceFault) -> String {
        guard let account = source.account else { throw SourceFault("the service account's key was not read") }
        var one = accesses[account] ?? Access()
        defer { accesses[account] = one }
        switch one.machine.tokenNeeded(at: client.clock()) {
        case .use(let token): return token.text
        case .ask(let meanwhile):
            do throws(SourceFault) {
                let token = try Self.ask(account, source, client, &one.machine)
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

    /// Google Play does not take it.
    mutating func rejected(_ token: String, of source: GooglePlaySource) {
        if let account = source.account { accesses[account]?.machine.rejected(token) }
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
            request.body = .bytes(GoogleAccount.tokenRequest(assertion))
            request.timeout = timeout
            request.maximumResponse = GoogleTokenAnswer.maximumSize
            response = try HTTPClient(trustedCertificates: source.trustedCertificates)
                .send(request, isCancelled: client.isStopping)
        } catch {
            machine.failed(retryAfter: nil, at: client.clock())
            throw SourceFault("no access token: \(error)")
        }
        switch GoogleTokenAnswer(status: response.status, body: response.body) {
        case .granted(let token, let lifetime):
            return machine.granted(token, lifetime: lifetime, at: client.clock()).text
        case .refused(let reason):
            machine.refused(at: client.clock())
            throw SourceFault(reason)
        case .unavailable(let reason):
            let retryAfter = response["retry-after"].flatMap { RetryAfter.duration($0, at: client.clock()) }
            machine.failed(retryAfter: retryAfter, at: client.clock())
            throw SourceFault(
                reason, isThrottled: [429, 503].contains(response.status), retryAfter: retryAfter)
        }
    }
}
