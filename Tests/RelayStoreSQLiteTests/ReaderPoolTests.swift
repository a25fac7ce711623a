// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import StoreSQL
import Synchronization
import Telemetry
import Testing
import Threading

@testable import RelayStoreSQLite

/// The readers that requests and the relay wait for.
@Suite(.ownThread) struct ReaderPoolTests {
    private static func pool(_ count: Int) throws -> ReaderPool {
        ReaderPool(try (0..<count).map { _ in try SQLiteConnection(path: ":memory:") })
    }

    /// Regression: long lists took all four readers, and the fan-out waited for one of them.
    @Test(arguments: [2, 4]) func requestsLeaveAReaderToTheRelay(count: Int) throws {
        let pool = try Self.pool(count)
        let begun = DispatchSemaphore(value: 0)
        let over = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        // More requests than there are readers.
        for request in 0..<(2 * count) {
            try NativeThread(name: "request") {
                try? RequestMark.with("request-\(request)") {
                    try pool.withConnection { _ in
                        begun.signal()
                        over.wait()
                    }
                }
                done.signal()
            }.detach()
        }
        for _ in 0..<(count - 1) { #expect(begun.wait(timeout: .now() + 60) == .success) }
        // Requests have taken all readers that they may have: this returns at once, or never.
        let read = DispatchSemaphore(value: 0)
        try NativeThread(name: "fan-out") {
            _ = try? pool.withConnection { _ in read.signal() }
        }.detach()
        #expect(read.wait(timeout: .now() + 60) == .success)
        for _ in 0..<(2 * count) { over.signal() }
        for _ in 0..<(2 * count) { #expect(done.wait(timeout: .now() + 60) == .success) }
    }

    /// Regression: a caller waited for the reader whose turn it was, though another was free.
    @Test func whoeverWaitsTakesTheFirstThatIsFree() throws {
        let pool = try Self.pool(2)
        let begun = DispatchSemaphore(value: 0)
        let (short, long) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let served = DispatchSemaphore(value: 0)
        for end in [short, long] {
            try NativeThread(name: "reader") {
                _ = try? pool.withConnection { _ in
                    begun.signal()
                    end.wait()
                }
            }.detach()
        }
        for _ in 0..<2 { #expect(begun.wait(timeout: .now() + 60) == .success) }
        for _ in 0..<2 {
            try NativeThread(name: "waiting") {
                _ = try? pool.withConnection { _ in served.signal() }
            }.detach()
        }
        short.signal()
        for _ in 0..<2 { #expect(served.wait(timeout: .now() + 60) == .success) }
        long.signal()
    }

    @Test func withOneReaderAllShareIt() throws {
        let pool = try Self.pool(1)
        let isLent = try RequestMark.with("request") { try pool.withConnection { $0 != nil } }
        #expect(isLent)
        pool.close()
        #expect(try pool.withConnection { $0 == nil })
    }
}
