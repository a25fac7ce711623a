// SPDX-License-Identifier: Apache-2.0
import Dispatch
import OwnThread
import RelayEngine
import Signing
import Synchronization
import Testing
import WireFormat

@testable import PushProviders

/// A token source whose endpoint is the test's.
final class FCMTokenBench: Sendable {
    /// Made once: a key takes a moment.
    static let key = Result { try RS256PrivateKey.generate() }

    static func account(project: String? = "example-project", url: String = "https://oauth2.example/token") throws
        -> GoogleAccount
    {
        var file: [JSONMember] = [
            JSONMember(name: "type", value: .string("service_account")),
            JSONMember(name: "private_key_id", value: .string("k1")),
            JSONMember(name: "private_key", value: .string(String(decoding: try key.get().pem, as: UTF8.self))),
            JSONMember(name: "client_email", value: .string("relay@example-project.iam.gserviceaccount.com")),
            JSONMember(name: "token_uri", value: .string(url)),
        ]
        if let project { file.append(JSONMember(name: "project_id", value: .string(project))) }
        return try GoogleAccount(keyFile: JSONValue.object(file).bytes())
    }

    let source: FCMTokenSource
    private let endpoint = Endpoint()

    /// The endpoint's side, which the source retains.
    private final class Endpoint: Sendable {
        let now = Mutex(Timestamp(seconds: 1_800_000_000))
        let reply = Mutex<FCMTokenSource.Reply?>(nil)
        let asked = Mutex(0)
        /// While it is held no answer is given.
        let gate = Mutex(())
        let changed = DispatchSemaphore(value: 0)
    }

    init() throws {
        let endpoint = endpoint
        source = FCMTokenSource(
            account: try Self.account(), clock: { endpoint.now.withLock { $0 } },
            exchange: { _, assertion, _ in
                let number = endpoint.asked.withLock {
                    $0 += 1
                    return $0
                }
                guard assertion.split(separator: ".").count == 3 else { return .failed("no assertion") }
                endpoint.gate.withLock { _ in }
                return endpoint.reply.withLock { $0 }
                    ?? .answered(.granted(token: "token-\(number)", lifetime: .seconds(3599)), retryAfter: nil)
            }, onChange: { endpoint.changed.signal() })
    }

    var now: Timestamp { endpoint.now.withLock { $0 } }
    var asked: Int { endpoint.asked.withLock { $0 } }

    func pass(_ time: Duration) { endpoint.now.withLock { $0 = $0 + time } }

    /// Sets the endpoint's answer; nil grants a token.
    func reply(_ reply: FCMTokenSource.Reply?) { endpoint.reply.withLock { $0 = reply } }

    /// Keeps the answer back while the test does something.
    func whileAsking(_ body: () throws -> Void) rethrows { try endpoint.gate.withLock { _ in try body() } }

    /// Waits until one more question has its outcome.
    func waitForChange() -> Bool { endpoint.changed.wait(timeout: .now() + 60 * Double(Patience.factor)) == .success }

    enum Outcome: Equatable {
        case token(String)
        case pending(until: Timestamp?, fault: String?)
        case refused(String)
    }

    func ask() -> Outcome {
        do {
            return .token(try source.token(at: now).text)
        } catch let error as CredentialPending {
            return .pending(until: error.until, fault: error.fault)
        } catch {
            return .refused("\(error)")
        }
    }
}

extension FCMTokenSource {
    /// Asks and waits for the first token.
    func fill(at now: Timestamp) {
        _ = try? token(at: now)
        let isThere = DispatchSemaphore(value: 0)
        whenAnswered { isThere.signal() }
        _ = isThere.wait(timeout: .now() + 60 * Double(Patience.factor))
    }
}

/// The questions to Google, their number, and the callers' answers in the meantime.
@Suite(.ownThread) struct FCMTokenSourceTests {
    @Test func oneQuestionServesAll() throws {
        let bench = try FCMTokenBench()
        bench.whileAsking {
            for _ in 0..<10 { #expect(bench.ask() == .pending(until: nil, fault: nil)) }
        }
        try #require(bench.waitForChange())
        #expect(bench.ask() == .token("token-1"))
        #expect(bench.asked == 1)
    }

    @Test func aTokenIsRenewedEarlyAndServesMeanwhile() throws {
        let bench = try FCMTokenBench()
        _ = bench.ask()
        try #require(bench.waitForChange())
        bench.pass(.seconds(3_598 - 300))
        #expect(bench.ask() == .token("token-1"))
        #expect(bench.asked == 1)
        bench.pass(.seconds(1))
        bench.whileAsking { #expect(bench.ask() == .token("token-1")) }
        try #require(bench.waitForChange())
        #expect(bench.ask() == .token("token-2"))
        #expect(bench.asked == 2)
    }

    @Test func anEndpointThatIsDownIsAskedAgainLater() throws {
        let bench = try FCMTokenBench()
        bench.reply(.failed("could not connect"))
        _ = bench.ask()
        try #require(bench.waitForChange())
        let fault = "no access token from https://oauth2.example/token: could not connect"
        #expect(bench.ask() == .pending(until: bench.now + .seconds(10), fault: fault))
        bench.reply(.answered(.unavailable("Google's token endpoint answers HTTP 503"), retryAfter: .seconds(60)))
        bench.pass(.seconds(10))
        #expect(bench.ask() == .pending(until: nil, fault: fault), "still so while it is asked")
        try #require(bench.waitForChange())
        #expect(
            bench.ask()
                == .pending(until: bench.now + .seconds(60), fault: "Google's token endpoint answers HTTP 503"))
        bench.reply(nil)
        bench.pass(.seconds(60))
        _ = bench.ask()
        try #require(bench.waitForChange())
        #expect(bench.ask() == .token("token-3"))
    }

    @Test func aRefusedKeyWaitsForAnOperator() throws {
        let bench = try FCMTokenBench()
        bench.reply(
            .answered(
                GoogleTokenAnswer(
                    status: 400,
                    body: Array(#"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#.utf8),
                    scope: GoogleAccount.Scope.firebaseMessaging),
                retryAfter: nil))
        _ = bench.ask()
        try #require(bench.waitForChange())
        guard case .refused(let text) = bench.ask() else {
            Issue.record("\(bench.ask())")
            return
        }
        #expect(text.hasPrefix("AccessTokenRefused: Google refuses the service account's key (invalid_grant"))
        #expect(text.contains("the key was deleted"))
        #expect(bench.asked == 1, "not again and again")
        // The operator has put another file in place, or made the account anew.
        bench.reply(nil)
        bench.source.forgetRefusal()
        #expect(bench.ask() == .pending(until: nil, fault: nil))
        try #require(bench.waitForChange())
        #expect(bench.ask() == .token("token-2"))
    }

    @Test func aRefusalInAdvanceSparesTheTokenThatIsGood() throws {
        let bench = try FCMTokenBench()
        _ = bench.ask()
        try #require(bench.waitForChange())
        bench.reply(.answered(.refused("no"), retryAfter: nil))
        bench.pass(.seconds(3_300))
        #expect(bench.ask() == .token("token-1"))
        try #require(bench.waitForChange())
        #expect(bench.ask() == .token("token-1"))
        bench.pass(.seconds(300))
        _ = bench.ask()
        try #require(bench.waitForChange())
        #expect(bench.ask() == .refused("AccessTokenRefused: no"))
    }

    @Test func a401RenewsOnce() throws {
        let bench = try FCMTokenBench()
        _ = bench.ask()
        try #require(bench.waitForChange())
        #expect(bench.source.rejected(1, at: bench.now) == .renew)
        #expect(bench.source.rejected(1, at: bench.now) == .alreadyRenewed, "of the same batch")
        _ = bench.ask()
        try #require(bench.waitForChange())
        #expect(bench.source.rejected(1, at: bench.now) == .alreadyRenewed)
        #expect(bench.source.rejected(2, at: bench.now) == .futile)
    }

    @Test func whoeverWaitsIsCalledOnce() throws {
        let bench = try FCMTokenBench()
        let calls = DispatchSemaphore(value: 0)
        bench.source.whenAnswered { calls.signal() }
        #expect(calls.wait(timeout: .now()) == .success, "nothing is asked: at once")
        bench.whileAsking {
            _ = bench.ask()
            bench.source.whenAnswered { calls.signal() }
            #expect(calls.wait(timeout: .now()) == .timedOut)
        }
        #expect(calls.wait(timeout: .now() + 60) == .success)
        #expect(bench.waitForChange())
        #expect(calls.wait(timeout: .now()) == .timedOut)
    }

    @Test func `A question can be run by somebody else, later`() throws {
        let questions = Mutex<[@Sendable () -> Void]>([])
        let source = FCMTokenSource(
            account: try FCMTokenBench.account(), clock: { Timestamp(seconds: 1_800_000_000) },
            exchange: { _, _, _ in .answered(.granted(token: "a", lifetime: .seconds(3599)), retryAfter: nil) },
            start: { question in questions.withLock { $0.append(question) } }, onChange: {})
        let now = Timestamp(seconds: 1_800_000_000)
        for _ in 0..<2 { #expect(throws: CredentialPending.self) { try source.token(at: now) } }
        // Taken out: a question keeps its source, which keeps the list.
        let asked = questions.withLock { list in
            defer { list = [] }
            return list
        }
        #expect(asked.count == 1)
        asked.first?()
        #expect(try source.token(at: now).text == "a")
    }
}
