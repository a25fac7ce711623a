// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import RelayEngine
package import Signing
import Synchronization
import Threading
import WireFormat

/// The access tokens of one service account: asked for when needed, one question at a time, renewed early, shared by all services
/// that push in its name.
///
/// May be used from any thread. The question is asked on a thread of its own: a caller never waits for the network. It gets
/// `CredentialPending` while there is no token, and `onChange` reports an answer.
package final class FCMTokenSource: Sendable {
    package struct Token: Sendable, Hashable {
        /// Without "Bearer". A secret.
        package var text: String
        package var askedAt: Timestamp
        /// Tokens are numbered as they come.
        package var number: Int
    }

    /// The outcome of a question.
    package enum Reply: Sendable {
        case answered(GoogleTokenAnswer, retryAfter: Duration?)
        case failed(String)
    }

    /// Asks the token endpoint and waits for its answer.
    package typealias Exchange = @Sendable (_ account: GoogleAccount, _ assertion: String, _ now: Timestamp) -> Reply

    /// Runs a question, now or later, on a thread that may wait.
    package typealias Start = @Sendable (_ question: @escaping @Sendable () -> Void) throws -> Void

    private enum Trouble {
        case refused(String)
        case unavailable(String)

        /// The trouble that still holds while another question is under way.
        var passing: String? { if case .unavailable(let text) = self { text } else { nil } }
    }

    private struct State {
        var machine = GoogleTokenMachine()
        /// The outcome of the last question, where it was no token.
        var trouble: Trouble?
        var number = 0
        /// The text of the last token. Callers name a rejected token by its number.
        var text = ""
        var waiting: [@Sendable () -> Void] = []
    }

    package let account: GoogleAccount
    private let clock: @Sendable () -> Timestamp
    private let exchange: Exchange
    private let start: Start
    private let onChange: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - start: runs the questions. Default a thread for each.
    ///   - onChange: called when a question has been answered or has failed, on its thread; on the caller's where that could not
    ///     start.
    package init(
        account: GoogleAccount, clock: @escaping @Sendable () -> Timestamp, exchange: @escaping Exchange,
        start: @escaping Start = FCMTokenSource.onOwnThread, onChange: @escaping @Sendable () -> Void
    ) {
        self.account = account
        self.clock = clock
        self.exchange = exchange
        self.start = start
        self.onChange = onChange
    }

    // MARK: Tokens

    /// The token to send with. A new one is asked for near its end; the old one serves until the new one comes.
    ///
    /// - Throws: `CredentialPending`, `UnusableCredential`.
    package func token(at now: Timestamp) throws -> Token {
        var asks = false
        defer { if asks { ask() } }
        return try state.withLock { state throws -> Token in
            func usable(_ token: GoogleTokenMachine.Token) -> Token {
                Token(text: token.text, askedAt: token.askedAt, number: state.number)
            }
            switch state.machine.tokenNeeded(at: now) {
            case .use(let token):
                return usable(token)
            case .ask(let meanwhile):
                asks = true
                if let meanwhile { return usable(meanwhile) }
                throw CredentialPending(fault: state.trouble?.passing)
            case .waitForAnswer:
                throw CredentialPending(fault: state.trouble?.passing)
            case .wait(let until):
                switch state.trouble {
                case .refused(let text): throw UnusableCredential.accessTokenRefused(text)
                case .unavailable(let text): throw CredentialPending(until: until, fault: text)
                case nil: throw CredentialPending(until: until)
                }
            }
        }
    }

    /// Notes that FCM does not take the token of this number.
    package func rejected(_ number: Int, at now: Timestamp) -> GoogleTokenMachine.Rejection {
        state.withLock { state in
            guard number == state.number else { return .alreadyRenewed }
            return state.machine.rejected(state.text, at: now)
        }
    }

    /// Forgets Google's refusal, whose cause may have been corrected.
    package func forgetRefusal() {
        state.withLock { state in
            state.machine.forgetRefusal()
            if case .refused = state.trouble { state.trouble = nil }
        }
    }

    /// Lets the next call ask at once, because an operator does not want to wait.
    package func askAtOnce() {
        forgetRefusal()
        state.withLock { $0.machine.askAtOnce() }
    }

    /// Calls `body` once: when the question under way has its answer, or at once where there is none.
    package func whenAnswered(_ body: @escaping @Sendable () -> Void) {
        let isAsking = state.withLock { state in
            guard state.machine.isAsking else { return false }
            state.waiting.append(body)
            return true
        }
        if !isAsking { body() }
    }

    // MARK: The question

    private func ask() {
        do {
            try start { self.exchangeAssertion() }
        } catch {
            settle(.failed("no thread for it: \(error)"))
        }
    }

    private func exchangeAssertion() {
        let now = clock()
        do {
            let assertion = try account.assertion(for: GoogleAccount.Scope.firebaseMessaging, at: now)
            settle(exchange(account, assertion, now))
        } catch {
            settle(.answered(.refused("the service account's key cannot sign: \(error)"), retryAfter: nil))
        }
    }

    private func settle(_ reply: Reply) {
        let now = clock()
        let waiting = state.withLock { state in
            switch reply {
            case .answered(.granted(let token, let lifetime), _):
                // A token that lasts no time would be asked for over and over.
                _ = state.machine.granted(token, lifetime: max(lifetime, Self.shortestLife), at: now)
                (state.text, state.trouble) = (token, nil)
                state.number += 1
            case .answered(.refused(let text), _):
                state.machine.refused(at: now)
                state.trouble = .refused(text)
            case .answered(.unavailable(let text), let retryAfter):
                state.machine.failed(retryAfter: retryAfter, at: now)
                state.trouble = .unavailable(text)
            case .failed(let text):
                state.machine.failed(retryAfter: nil, at: now)
                state.trouble = .unavailable("no access token from \(account.tokenURL): \(text)")
            }
            defer { state.waiting = [] }
            return state.waiting
        }
        for body in waiting { body() }
        onChange()
    }
}

extension FCMTokenSource {
    private static let shortestLife = Duration.seconds(60)
    private static let timeout = Duration.seconds(20)

    /// The process may end before the answer comes: nothing waits for the thread.
    package static let onOwnThread: Start = { question in
        try NativeThread(name: "fcm-token", question).detach()
    }

    /// An exchange by libcurl.
    package static func overHTTPS(_ egress: Egress) -> Exchange {
        { account, assertion, now in
            var request = HTTPRequest("POST", account.tokenURL)
            request.headers = [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"),
            ]
            request.body = GoogleAccount.tokenRequest(assertion)
            request.timeout = timeout
            request.maximumResponse = GoogleTokenAnswer.maximumSize
            do {
                let response = try HTTPClient(to: .googleTokens, egress: egress).send(request)
                return .answered(
                    GoogleTokenAnswer(
                        status: response.status, body: response.body, scope: GoogleAccount.Scope.firebaseMessaging),
                    retryAfter: response["retry-after"].flatMap { RetryAfter.duration($0, at: now) })
            } catch {
                return .failed("\(error)")
            }
        }
    }
}
