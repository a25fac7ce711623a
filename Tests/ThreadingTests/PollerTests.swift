// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import Threading

/// A set is tried with real descriptors: two ends of a socket pair, `near` watched and `far` used.
@Suite struct PollerTests {
    private static func pair() throws -> (near: Int32, far: Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    private static func send(_ byte: UInt8, to socket: Int32) {
        var byte = byte
        _ = unsafe write(socket, &byte, 1)
    }

    @Test func `What is readable is reported with its token, at each wait until it is read`() throws {
        let (set, ends) = (try PollSet(), try Self.pair())
        defer { for end in [ends.near, ends.far] { close(end) } }
        let poller = Poller(set)
        #expect(set.add(ends.near, token: 7))
        #expect(poller.wait(milliseconds: 0) == 0)
        Self.send(1, to: ends.far)
        for _ in 0..<2 {
            #expect(poller.wait(milliseconds: 1000) == 1)
            let event = poller.event(0)
            #expect(event.token == 7)
            #expect(event.hasInput && event.isReadable && !event.hasRoom && !event.isBroken && !event.isHungUp)
        }
        var byte: UInt8 = 0
        #expect(unsafe read(ends.near, &byte, 1) == 1)
        #expect(poller.wait(milliseconds: 0) == 0)
    }

    @Test func `An interest is exchanged, and what has none is silent until it is broken`() throws {
        let (set, ends) = (try PollSet(), try Self.pair())
        defer { close(ends.near) }
        let poller = Poller(set)
        #expect(set.add(ends.near, token: 1, [.reading, .writing]))
        #expect(poller.wait(milliseconds: 0) == 1)
        #expect(poller.event(0).hasRoom && !poller.event(0).isReadable)
        set.change(ends.near, token: 2, to: [])
        Self.send(1, to: ends.far)
        #expect(poller.wait(milliseconds: 0) == 0)
        close(ends.far)
        #expect(poller.wait(milliseconds: 1000) == 1)
        #expect(poller.event(0).token == 2)
        #expect(poller.event(0).isBroken && poller.event(0).isReadable && !poller.event(0).hasInput)
    }

    @Test func `A hang-up is reported where it alone is asked for`() throws {
        let (set, ends) = (try PollSet(), try Self.pair())
        defer { for end in [ends.near, ends.far] { close(end) } }
        let poller = Poller(set)
        #expect(set.add(ends.near, token: 1, .hangUp))
        Self.send(1, to: ends.far)
        #expect(poller.wait(milliseconds: 0) == 0)
        #expect(shutdown(ends.far, Int32(SHUT_WR)) == 0)
        #expect(poller.wait(milliseconds: 1000) == 1)
        #expect(poller.event(0).isHungUp && !poller.event(0).hasInput && poller.event(0).isReadable)
    }

    @Test func `A wait hands out no more events than it has room for, and a removed descriptor none`() throws {
        let set = try PollSet()
        let pairs = try (0..<3).map { _ in try Self.pair() }
        defer { for pair in pairs { for end in [pair.near, pair.far] { close(end) } } }
        for (token, pair) in pairs.enumerated() {
            #expect(set.add(pair.near, token: UInt64(token)))
            Self.send(1, to: pair.far)
        }
        #expect(Poller(set, capacity: 2).wait(milliseconds: 0) == 2)
        set.remove(pairs[1].near)
        let poller = Poller(set)
        #expect(poller.wait(milliseconds: 0) == 2)
        #expect(Set([poller.event(0).token, poller.event(1).token]) == [0, 2])
        #expect(!set.add(pairs[0].near, token: 9), "the kernel takes no descriptor twice")
    }
}
