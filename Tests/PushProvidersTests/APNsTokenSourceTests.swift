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

    private func source(
        stored: ProviderToken? = nil, save: @escaping @Sendable (ProviderToken) throws -> Void = { _ in }
    ) -> APNsTokenSource {
        APNsTokenSource(teamID: "TEAM123456", keyID: "KEY1234567", key: key, stored: stored, save: save)
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
        let saved = Mutex<ProviderToken?>(nil)
        let first = try source { token in saved.withLock { $0 = token } }.token(at: start)
        let stored = saved.withLock { $0 }
        #expect(stored == first)
        #expect(try source(stored: stored).token(at: start + .seconds(600)) == first)
    }

    @Test func aStoredTokenOfAnotherKeyFileIsNotUsed() throws {
        let other = try ES256PrivateKey.generate()
        let foreign = try APNsTokenSource(
            teamID: "TEAM123456", keyID: "KEY1234567", key: other, stored: nil, save: { _ in }
        ).token(at: start)
        #expect(try source(stored: foreign).token(at: start + .seconds(1)) != foreign)
    }

    /// TooManyProviderTokenUpdates, and a restart in the pause.
    @Test func aPauseOutlivesARestart() throws {
        let saved = Mutex<[ProviderToken]>([])
        let first = source { token in saved.withLock { $0.append(token) } }
        let token = try first.token(at: start)
        let end = start + .seconds(55 * 60)
        let (server, asked) = ("api.push.apple.com:443", end - .seconds(20 * 60))
        first.pause(until: end, by: server, now: asked)
        first.pause(until: end - .seconds(60), by: server, now: asked)
        #expect(first.pause(at: server, now: asked) == end)
        let stored = try #require(saved.withLock { $0.last })
        #expect(stored == ProviderToken(text: token.text, issuedAt: token.issuedAt, pausedUntil: end, pausedBy: server))
        #expect(saved.withLock { $0.count } == 2, "the token, and its pause once")

        let second = source(stored: stored) { token in saved.withLock { $0.append(token) } }
        let late = end - .milliseconds(1)
        #expect(second.pause(at: server, now: late) == end)
        #expect(try second.token(at: late).text == token.text, "older than 50 minutes, and not replaced")
        #expect(try second.refused(token.issuedAt, at: late) == .paused(until: end))
        #expect(saved.withLock { $0.count } == 2)
        let next = try second.token(at: end)
        #expect(next.text != token.text && next.pausedUntil == nil && second.pause(at: server, now: end) == nil)
        #expect(saved.withLock { $0.last } == next)
    }

    @Test("What one server wants holds there; where a second says so, it is the key that has signed too often")
    func pausesOfServers() throws {
        let saved = Mutex<[ProviderToken]>([])
        let first = source { token in saved.withLock { $0.append(token) } }
        let token = try first.token(at: start)
        let (production, sandbox, third) = ("api.push.apple.com:443", "api.sandbox.push.apple.com:443", "other:443")
        let (soon, late) = (start + .seconds(300), start + .seconds(600))
        first.pause(until: soon, by: sandbox, now: start)
        #expect(first.pause(at: sandbox, now: start) == soon && first.pause(at: production, now: start) == nil)
        // No other token is signed meanwhile, whoever minds.
        #expect(try first.refused(token.issuedAt, at: start) == .paused(until: soon))
        // So it is after a restart.
        let second = source(stored: saved.withLock { $0.last }) { token in saved.withLock { $0.append(token) } }
        #expect(second.pause(at: sandbox, now: start) == soon && second.pause(at: production, now: start) == nil)
        second.pause(until: late, by: third, now: start)
        for server in [production, sandbox, third] { #expect(second.pause(at: server, now: start) == late) }
        let fourth = source(stored: saved.withLock { $0.last }) { _ in }
        #expect(fourth.pause(at: production, now: start) == late)
        // When the first is over, the other holds where it was said.
        #expect(second.pause(at: production, now: soon) == nil && second.pause(at: third, now: soon) == late)
    }

    @Test func aPauseHoldsForWhateverSignsWithTheKeysName() throws {
        let other = try ES256PrivateKey.generate()
        var foreign = try APNsTokenSource(
            teamID: "TEAM123456", keyID: "KEY1234567", key: other, stored: nil, save: { _ in }
        ).token(at: start)
        foreign.pausedUntil = start + .seconds(300)
        let signed = Mutex(0)
        let source = APNsTokenSource(
            teamID: "TEAM123456", keyID: "KEY1234567", key: key, stored: foreign,
            onSigned: { signed.withLock { $0 += 1 } }, save: { _ in })
        #expect(throws: CredentialPending.self) { try source.token(at: start) }
        #expect(signed.withLock { $0 } == 0)
        #expect(try source.token(at: start + .seconds(300)).text != foreign.text)
        #expect(signed.withLock { $0 } == 1)
    }

    @Test func aTokenThatCannotBeSavedIsUsedAllTheSame() throws {
        struct Full: Error {}
        let source = source { _ in throw Full() }
        let first = try source.token(at: start)
        #expect(try source.token(at: start + .seconds(60)) == first)
    }

    @Test func whatCouldNotBeSavedIsSavedOnceTheStoreWorks() throws {
        struct Full: Error {}
        let saved = Mutex<(isFull: Bool, tokens: [ProviderToken])>((true, []))
        let source = source { token in
            try saved.withLock {
                guard !$0.isFull else { throw Full() }
                $0.tokens.append(token)
            }
        }
        let token = try source.token(at: start)
        source.pause(until: start + .seconds(300), by: "api.push.apple.com:443", now: start)
        source.saveAgain()
        #expect(saved.withLock { $0.tokens.isEmpty })
        saved.withLock { $0.isFull = false }
        source.saveAgain()
        source.saveAgain()
        let paused = ProviderToken(
            text: token.text, issuedAt: token.issuedAt, pausedUntil: start + .seconds(300),
            pausedBy: "api.push.apple.com:443")
        #expect(saved.withLock { $0.tokens } == [paused], "once, with its pause")
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
