// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushProviders
import RelayEngine
import Signing
import Synchronization
import Testing
import WireFormat

@Suite struct APNsTokenSourceTests {
    private let start = Timestamp(milliseconds: 1_800_000_000_500)
    private let key: ES256PrivateKey

    init() throws {
        key = try ES256PrivateKey.generate()
    }

    private func source(_ shared: SharedTokens = SharedTokens(), key other: ES256PrivateKey? = nil) -> APNsTokenSource {
        APNsTokenSource(
            teamID: "TEAM123456", keyID: "KEY1234567", key: other ?? key, stored: shared.kept, keeper: shared)
    }

    @Test func theTokenIsWhatAppleAsksFor() throws {
        let token = try source().token(at: start)
        let parts = token.text.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0]))
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"KEY1234567"}"#)
        let claims = try #require(Base64URL.decode(parts[1]))
        #expect(String(decoding: claims, as: UTF8.self) == #"{"iss":"TEAM123456","iat":1800000000}"#)
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(signature.count == 64, "raw R and S, not DER")
        #expect(key.publicKey.isValid(signature, for: Array((parts[0] + "." + parts[1]).utf8)))
        #expect(!token.text.contains("="))
    }

    @Test func oneTokenServesFiftyMinutes() throws {
        let source = source()
        let first = try source.token(at: start)
        #expect(try source.token(at: start + .seconds(49 * 60)) == first)
        let second = try source.token(at: start + .seconds(50 * 60))
        #expect(second.text != first.text)
        #expect(try source.token(at: start + .seconds(51 * 60)) == second)
    }

    @Test func aTokenOutlivesARestart() throws {
        let shared = SharedTokens()
        let first = try source(shared).token(at: start)
        #expect(shared.kept == first)
        #expect(try source(shared).token(at: start + .seconds(600)) == first)
        #expect(shared.writes == 1)
    }

    @Test func aStoredTokenOfAnotherKeyFileIsNotUsed() throws {
        let shared = SharedTokens()
        let foreign = try source(shared, key: .generate()).token(at: start)
        let own = try source(shared).token(at: start + .seconds(1))
        #expect(own != foreign)
        #expect(try source(shared).token(at: start + .seconds(2)) == own, "after a restart, too")
        #expect(shared.kept == foreign && shared.rows == 2)
    }

    /// TooManyProviderTokenUpdates, and a restart in the pause.
    @Test func aPauseOutlivesARestart() throws {
        let shared = SharedTokens()
        let first = source(shared)
        let token = try first.token(at: start)
        let end = start + .seconds(55 * 60)
        let (server, asked) = ("api.push.apple.com:443", end - .seconds(20 * 60))
        first.pause(until: end, by: server, now: asked)
        first.pause(until: end - .seconds(60), by: server, now: asked)
        #expect(first.pause(at: server, now: asked) == end)
        #expect(
            shared.kept
                == ProviderToken(text: token.text, issuedAt: token.issuedAt, pausedUntil: end, pausedBy: server))
        #expect(shared.writes == 2, "the token, and its pause once")

        let second = source(shared)
        let late = end - .milliseconds(1)
        #expect(second.pause(at: server, now: late) == end)
        #expect(try second.token(at: late).text == token.text, "older than 50 minutes, and not replaced")
        #expect(try second.refused(token.issuedAt, at: late) == .paused(until: end))
        #expect(shared.writes == 2)
        let next = try second.token(at: end)
        #expect(next.text != token.text && second.pause(at: server, now: end) == nil)
        #expect(shared.kept?.unpaused == next)
    }

    @Test("What one server wants holds there; where a second says so, it is the key that has signed too often")
    func pausesOfServers() throws {
        let shared = SharedTokens()
        let first = source(shared)
        let token = try first.token(at: start)
        let (production, sandbox, third) = ("api.push.apple.com:443", "api.sandbox.push.apple.com:443", "other:443")
        let (soon, late) = (start + .seconds(300), start + .seconds(600))
        first.pause(until: soon, by: sandbox, now: start)
        #expect(first.pause(at: sandbox, now: start) == soon && first.pause(at: production, now: start) == nil)
        // No other token is signed until then, whichever server asks for one.
        #expect(try first.refused(token.issuedAt, at: start) == .paused(until: soon))
        // So it is after a restart.
        let second = source(shared)
        #expect(second.pause(at: sandbox, now: start) == soon && second.pause(at: production, now: start) == nil)
        second.pause(until: late, by: third, now: start)
        // The store reports its own pause to it, too; it knows that one better.
        second.refresh(at: start)
        for server in [production, sandbox, third] { #expect(second.pause(at: server, now: start) == late) }
        #expect(source(shared).pause(at: production, now: start) == late)
        // When the first pause is over, the other one holds only at its own server.
        #expect(second.pause(at: production, now: soon) == nil && second.pause(at: third, now: soon) == late)
    }

    @Test func aPauseHoldsForWhateverSignsWithTheKeysName() throws {
        let shared = SharedTokens()
        let other = source(shared, key: try .generate())
        let foreign = try other.token(at: start)
        other.pause(until: start + .seconds(300), by: "api.push.apple.com:443", now: start)
        let signed = Mutex(0)
        let source = APNsTokenSource(
            teamID: "TEAM123456", keyID: "KEY1234567", key: key, stored: shared.kept, keeper: shared,
            onSigned: { signed.withLock { $0 += 1 } })
        #expect(throws: CredentialPending.self) { try source.token(at: start) }
        #expect(signed.withLock { $0 } == 0)
        #expect(try source.token(at: start + .seconds(300)).text != foreign.text)
        #expect(signed.withLock { $0 } == 1)
    }

    @Test func aTokenThatCannotBeSavedIsUsedAllTheSame() throws {
        let shared = SharedTokens()
        shared.set(isDown: true)
        let source = source(shared)
        let first = try source.token(at: start)
        #expect(try source.token(at: start + .seconds(60)) == first)
    }

    @Test func whatCouldNotBeSavedIsSavedOnceTheStoreWorks() throws {
        let shared = SharedTokens()
        shared.set(isDown: true)
        let source = source(shared)
        let token = try source.token(at: start)
        source.pause(until: start + .seconds(300), by: "api.push.apple.com:443", now: start)
        source.saveAgain()
        #expect(shared.writes == 0)
        shared.set(isDown: false)
        source.saveAgain()
        source.saveAgain()
        #expect(
            shared.kept
                == ProviderToken(
                    text: token.text, issuedAt: token.issuedAt, pausedUntil: start + .seconds(300),
                    pausedBy: "api.push.apple.com:443"))
        #expect(shared.writes == 2, "once, with its pause")
    }

    @Test func aRefusedTokenIsRenewedOnceForAll() throws {
        let source = source()
        let first = try source.token(at: start)
        let later = start + .seconds(30 * 60)
        #expect(try source.refused(first.issuedAt, at: later) == .sign)
        let second = try source.token(at: later)
        #expect(second != first)
        #expect(try source.refused(first.issuedAt, at: later + .seconds(1)) == .alreadyRenewed)
        #expect(try source.token(at: later + .seconds(1)) == second)
        #expect(try source.refused(second.issuedAt, at: later + .seconds(60)) == .clockSkew)
        #expect(try source.token(at: later + .seconds(60)) == second)
    }
}
