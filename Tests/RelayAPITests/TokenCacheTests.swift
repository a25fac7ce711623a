// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Synchronization
import Testing

@testable import RelayAPI

@Suite("What is remembered of API tokens")
struct TokenCacheTests {
    private final class Store: Sendable {
        let token = Mutex<AccessToken?>(
            AccessToken(name: "ci", scopes: [.status], apps: nil, createdAt: Timestamp(seconds: 1), revokedAt: nil))
        let looks = Mutex(0)
        let time = Mutex<Int64>(0)

        func look(_: [UInt8]) -> AccessToken? {
            looks.withLock { $0 += 1 }
            return token.withLock { $0 }
        }

        func pass(milliseconds: Int64) { time.withLock { $0 += milliseconds } }
    }

    private let store = Store()
    private let cache: TokenCache
    private let hash = [UInt8](repeating: 7, count: 32)

    init() { cache = TokenCache { [store] in store.time.withLock { $0 } } }

    private func found() throws -> AccessToken? { try cache.token(hash, look: store.look) }
    private var looks: Int { store.looks.withLock { $0 } }

    @Test("A token is looked up once in five seconds, one that is unknown once in a second")
    func times() throws {
        for _ in 0..<3 { #expect(try found()?.name == "ci") }
        #expect(looks == 1)
        store.pass(milliseconds: TokenCache.known - 1)
        #expect(try found() != nil && looks == 1)
        store.pass(milliseconds: 1)
        store.token.withLock { $0 = nil }
        #expect(try found() == nil && looks == 2)
        store.pass(milliseconds: TokenCache.unknown - 1)
        #expect(try found() == nil && looks == 2)
        store.pass(milliseconds: 1)
        #expect(try found() == nil && looks == 3)
    }

    @Test("Whoever changes a token has it looked up at once")
    func forgotten() throws {
        #expect(try found() != nil)
        store.token.withLock { $0 = nil }
        cache.forget()
        #expect(try found() == nil && looks == 2)
    }

    @Test("What the store said before a change is not kept after it")
    func crossing() throws {
        let late = try cache.token(hash) { hash in
            let answer = store.look(hash)
            // Revoked while the answer is on its way.
            store.token.withLock { $0 = nil }
            cache.forget()
            return answer
        }
        #expect(late != nil)
        #expect(try found() == nil)
    }

    @Test("A store that fails is asked again")
    func fault() throws {
        struct Away: Error {}
        #expect(throws: Away.self) { try cache.token(hash) { _ in throw Away() } }
        #expect(try found() != nil)
    }

    @Test("However many unknown tokens are tried, a known one stays")
    func guesses() throws {
        #expect(try found() != nil)
        for number in 0..<10_000 {
            let guess = withUnsafeBytes(of: number) { Array($0) }
            #expect(try cache.token(guess) { _ in nil } == nil)
        }
        #expect(try found() != nil && looks == 1)
    }
}
