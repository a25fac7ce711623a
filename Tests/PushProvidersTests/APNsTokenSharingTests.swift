// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import Signing
import Synchronization
import Testing

/// Several relays have one key, and Apple counts its tokens: one serves them all.
@Suite struct APNsTokenSharingTests {
    private let start = Timestamp(milliseconds: 1_800_000_000_500)
    private let server = "api.push.apple.com:443"
    private let key: ES256PrivateKey
    private let shared = SharedTokens()
    private let signings = Counter()

    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    init() throws {
        key = try ES256PrivateKey.generate()
    }

    private func relay(key other: ES256PrivateKey? = nil) -> APNsTokenSource {
        APNsTokenSource(
            teamID: "TEAM123456", keyID: "KEY1234567", key: other ?? key, stored: shared.kept, keeper: shared,
            onSigned: { [signings] in signings.count.withLock { $0 += 1 } })
    }

    private var signed: Int { signings.count.withLock { $0 } }

    private func after(_ minutes: Int) -> Timestamp { start + .seconds(minutes * 60) }

    @Test func whatOneHasSignedServesTheOther() throws {
        let (first, second) = (relay(), relay())
        let token = try first.token(at: after(0))
        #expect(try second.token(at: after(1)) == token)
        // After fifty minutes the first relay that needs one signs the next.
        let next = try second.token(at: after(50))
        #expect(next != token)
        #expect(try first.token(at: after(51)) == next)
        #expect(signed == 2)
    }

    @Test func nothingIsReadWhileThereIsATokenToUse() throws {
        let relay = relay()
        _ = try relay.token(at: after(0))
        let reads = shared.reads
        for minutes in 1..<50 {
            _ = try relay.token(at: after(minutes))
            relay.saveAgain()
        }
        #expect(shared.reads == reads)
    }

    @Test func ofTwoThatSignAtOnceOnesTokenIsThrownAway() throws {
        let (first, second) = (relay(), relay())
        for minutes in [0, 50, 100] {
            let taken = Mutex<ProviderToken?>(nil)
            // Each has found that there is none, or an old one.
            shared.content.withLock { [after] in
                $0.before = { taken.withLock { $0 = try? second.token(at: after(minutes)) } }
            }
            let token = try first.token(at: after(minutes))
            #expect(token == taken.withLock { $0 })
            #expect(try first.token(at: after(minutes + 1)) == token, "and stays so")
            #expect(signed == minutes / 50 + 1, "what nobody is shown is not counted")
        }
    }

    @Test func manyThreadsOfManyRelaysSendWithOneToken() async throws {
        let relays = (0..<4).map { _ in relay() }
        for minutes in [0, 50, 100] {
            let now = after(minutes)
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<16 { group.addTask { try relays[number % 4].token(at: now).text } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(texts.count == 1)
        }
        #expect(signed == 3)
    }

    @Test func whatIsCalledExpiredIsReplacedOnceForAllRelays() throws {
        let (first, second) = (relay(), relay())
        let token = try first.token(at: after(0))
        #expect(try second.token(at: after(1)) == token)
        #expect(try first.refused(token.issuedAt, at: after(30)) == .sign)
        let next = try first.token(at: after(30))
        #expect(try second.refused(token.issuedAt, at: after(31)) == .taken)
        #expect(try second.token(at: after(31)) == next)
        #expect(try second.refused(token.issuedAt, at: after(31)) == .alreadyRenewed)
        // The twenty minutes count for both relays.
        for relay in [first, second] {
            #expect(try relay.refused(next.issuedAt, at: after(40)) == .clockSkew)
            #expect(try relay.token(at: after(40)) == next)
        }
        #expect(signed == 2)
    }

    @Test func aPauseIsAllRelays() throws {
        let (first, second) = (relay(), relay())
        let token = try first.token(at: after(0))
        #expect(try second.token(at: after(1)) == token)
        first.pause(until: after(55), by: server, now: after(40))
        #expect(second.pause(at: server, now: after(40)) == nil, "it has not heard of it")
        // It is about to sign.
        #expect(try second.token(at: after(50)) == token)
        #expect(second.pause(at: server, now: after(50)) == after(55))
        #expect(try second.refused(token.issuedAt, at: after(54)) == .paused(until: after(55)))
        let next = try second.token(at: after(55))
        #expect(next != token)
        #expect(try first.token(at: after(55)) == next)
        #expect(signed == 2)
    }

    @Test func whatAnotherRelayWasToldIsReadWhenTheStoreTells() throws {
        let (first, second) = (relay(), relay())
        let token = try first.token(at: after(0))
        second.refresh(at: after(0))
        let reads = shared.reads
        #expect(try second.token(at: after(1)) == token)
        #expect(shared.reads == reads, "it was there already")
        first.pause(until: after(10), by: server, now: after(2))
        second.refresh(at: after(2))
        #expect(second.pause(at: server, now: after(2)) == after(10))
        // A token that was read before another one was signed changes nothing.
        let next = try first.token(at: after(50))
        second.refresh(at: after(50))
        shared.content.withLock { $0.rows[.key] = token }
        second.refresh(at: after(50))
        #expect(try second.token(at: after(51)) == next)
        shared.set(isDown: true)
        second.refresh(at: after(51))
        #expect(try second.token(at: after(51)) == next)
    }

    @Test func aPauseIsNotLostBesideANewToken() throws {
        let (first, second) = (relay(), relay())
        let token = try first.token(at: after(0))
        _ = try second.token(at: after(0))
        // The first relay has found no pause, and signs.
        shared.content.withLock { [after, server] in
            $0.before = { second.pause(until: after(55), by: server, now: after(50)) }
        }
        #expect(try first.token(at: after(50)) == token)
        #expect(
            shared.kept
                == ProviderToken(
                    text: token.text, issuedAt: token.issuedAt, pausedUntil: after(55), pausedBy: server))
        #expect(signed == 1)
    }

    @Test func whatWasSignedWithoutTheStoreGivesWayToWhatIsThere() throws {
        let (first, second) = (relay(), relay())
        shared.set(isDown: true)
        let alone = try first.token(at: after(0))
        shared.set(isDown: false)
        let token = try second.token(at: after(1))
        #expect(token != alone)
        first.saveAgain()
        #expect(try first.token(at: after(2)) == token)
        #expect(shared.kept == token)
        // The other way round: the stored token is old.
        shared.set(isDown: true)
        let next = try first.token(at: after(51))
        shared.set(isDown: false)
        first.saveAgain()
        #expect(shared.kept == next)
        #expect(try second.token(at: after(52)) == next)
    }

    @Test func filesOfOneKeyIDDoNotSignOverEachOther() throws {
        let other = try ES256PrivateKey.generate()
        let files = [[relay(), relay()], [relay(key: other), relay(key: other)]]
        for minutes in stride(from: 0, through: 200, by: 10) {
            let tokens = try files.map { relays in Set(try relays.map { try $0.token(at: after(minutes)).text }) }
            #expect(tokens.map(\.count) == [1, 1] && tokens[0] != tokens[1])
        }
        #expect(signed == 10 && shared.rows == 2, "at 0, 50, 100, 150 and 200 minutes, one for each file")
        // The key is one all the same.
        files[1][0].pause(until: after(210), by: server, now: after(200))
        files[0][0].refresh(at: after(200))
        #expect(files[0][0].pause(at: server, now: after(200)) == after(210))
    }

    @Test func filesThatBeginAtOnceHaveAPlaceEach() throws {
        let (first, second) = (relay(), relay(key: try ES256PrivateKey.generate()))
        shared.content.withLock { [after] in $0.before = { _ = try? second.token(at: after(0)) } }
        let token = try first.token(at: after(0))
        #expect(shared.rows == 2)
        #expect(try first.token(at: after(1)) == token && relay().token(at: after(1)) == token)
        #expect(try second.token(at: after(1)) != token)
        #expect(signed == 2)
    }

    @Test func aPauseOfWhatIsNotKeptIsKeptWithIt() throws {
        let relay = relay()
        let token = try relay.token(at: after(0))
        shared.content.withLock { $0.rows = [:] }
        relay.pause(until: after(5), by: server, now: after(0))
        #expect(shared.kept == nil)
        relay.saveAgain()
        #expect(shared.kept?.unpaused == token && shared.kept?.pausedUntil == after(5))
    }
}
