// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import HTTPServer

@Suite("Connections: deadlines, room, and who gives way")
struct ConnectionTableTests {
    static let times = ConnectionTable.Times(idle: 30, request: 10, pressed: 5, closing: 8)

    static func address(_ text: String) -> PeerAddress {
        if text.contains(":") {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            _ = inet_pton(AF_INET6, text, &address.sin6_addr)
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { PeerAddress($0) }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        _ = inet_pton(AF_INET, text, &address.sin_addr)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { PeerAddress($0) }
        }
    }

    private static func table(total: Int, perAddress: Int) -> ConnectionTable {
        ConnectionTable(ConnectionCounts(total: total, perAddress: perAddress), times)
    }

    private static let first = address("192.0.2.1")

    @Test("an address is what a log shows, and a subscriber is what is counted")
    func addresses() {
        #expect(Self.address("192.0.2.7").description == "192.0.2.7")
        #expect(Self.address("2001:db8::7").description == "2001:db8:0:0:0:0:0:7")
        #expect(PeerAddress.none.description == "local")
        #expect(Self.address("192.0.2.7").subscriber != Self.address("192.0.2.8").subscriber)
        #expect(Self.address("::ffff:192.0.2.7").subscriber == Self.address("192.0.2.7").subscriber)
        #expect(Self.address("2001:db8::7").subscriber == Self.address("2001:db8:0:0:1::8").subscriber)
        #expect(Self.address("2001:db8::7").subscriber != Self.address("2001:db8:0:1::7").subscriber)
    }

    @Test("a request has its time in all, whatever drips in; work and progress count anew; idling has its own")
    func deadlines() throws {
        var table = Self.table(total: 8, perAddress: 8)
        let place = try #require(table.enter(Self.first, now: 0).place)
        #expect(table.overdue(now: 29) == [])
        table.set(place, .receiving, isRenewed: false, now: 20)
        // More of the same changes nothing.
        table.set(place, .receiving, isRenewed: false, now: 28)
        #expect(table.overdue(now: 29) == [])
        table.set(place, .working, isRenewed: false, now: 29)
        #expect(table.overdue(now: 1_000_000) == [])
        table.set(place, .receiving, isRenewed: true, now: 1_000_100)
        #expect(table.overdue(now: 1_000_109) == [])
        table.set(place, .receiving, isRenewed: true, now: 1_000_109)
        #expect(table.overdue(now: 1_000_118) == [])
        table.set(place, .sending, isRenewed: false, now: 1_000_118)
        #expect(table.overdue(now: 1_000_127) == [])
        table.set(place, .idle, isRenewed: true, now: 1_000_127)
        #expect(table.overdue(now: 1_000_156) == [])
        #expect(table.overdue(now: 1_000_157) == [place])
        #expect(table.figures == .init(), "who was idle is no loss")
        table.set(place, .receiving, isRenewed: true, now: 1_000_157)
        #expect(table.overdue(now: 1_000_167) == [place])
        #expect(table.takeFigures() == .init(refused: 0, overdue: 1, evicted: 0))
        table.set(place, .closing, isRenewed: false, now: 1_000_167)
        #expect(table.overdue(now: 1_000_174) == [])
        #expect(table.overdue(now: 1_000_175) == [place])
        table.leave(place)
        #expect(table.count == 0 && table.overdue(now: 2_000_000) == [])
    }

    @Test("a handshake has its own time, and where too many are under way the oldest of the same address gives way")
    func greetings() throws {
        var times = Self.times
        (times.greeting, times.greetings) = (6, 3)
        var table = ConnectionTable(ConnectionCounts(total: 100, perAddress: 100), times)
        func greet(_ address: String, now: Int64) throws -> Int {
            let place = try #require(table.enter(Self.address(address), now: now).place)
            table.set(place, .greeting, isRenewed: false, now: now)
            return place
        }
        let other = try greet("192.0.2.7", now: 0)
        let first = try greet("192.0.2.1", now: 1)
        let second = try greet("192.0.2.1", now: 1)
        #expect(table.onceTooMany(beside: second) == nil)
        let third = try greet("192.0.2.1", now: 2)
        #expect(table.onceTooMany(beside: third) == first, "its own, though another is older")
        table.leave(first)
        #expect(table.onceTooMany(beside: third) == nil)
        let stranger = try greet("192.0.2.9", now: 3)
        #expect(table.onceTooMany(beside: stranger) == other)
        table.set(other, .idle, isRenewed: false, now: 4)
        #expect(table.onceTooMany(beside: stranger) == nil, "its handshake is done")
        #expect(table.takeFigures() == .init(evicted: 2))
        #expect(table.overdue(now: 6) == [])
        #expect(table.overdue(now: 8) == [second, third])
        #expect(table.figures == .init(), "who has not begun a request is no loss")
    }

    @Test("the longest idle of an address give way to a new one of it, and those who are at work never do")
    func perAddress() throws {
        var table = Self.table(total: 100, perAddress: 2)
        let busy = try #require(table.enter(Self.first, now: 0).place)
        let old = try #require(table.enter(Self.first, now: 5).place)
        let other = try #require(table.enter(Self.address("192.0.2.2"), now: 1).place)
        table.set(busy, .working, isRenewed: false, now: 6)
        let new = table.enter(Self.first, now: 7)
        #expect(new.place == old && new.leaving == [old], "its seat is free at once")
        table.set(old, .receiving, isRenewed: true, now: 8)
        let refused = table.enter(Self.first, now: 9)
        #expect(refused.place == nil && refused.leaving == [])
        #expect(table.enter(Self.address("192.0.2.2"), now: 9).place != nil)
        #expect(table.takeFigures() == .init(refused: 0, overdue: 0, evicted: 1))
        for place in [old, other] { table.leave(place) }
        #expect(table.count == 2)
        #expect(table.enter(Self.first, now: 10).place != nil)
    }

    @Test("a full house makes room among the idle, the longest first and a sixteenth at once")
    func total() {
        var table = Self.table(total: 32, perAddress: 32)
        let house = (0..<32).compactMap { table.enter(Self.address("198.51.100.\($0)"), now: Int64($0)).place }
        let new = table.enter(Self.first, now: 32)
        #expect(new.place != nil && new.leaving == Array(house[..<2]))
        #expect(table.count == 31)
    }

    @Test("the threads of one door count together, and each has its own to make room of")
    func together() {
        let counts = ConnectionCounts(total: 2, perAddress: 2)
        var (one, other) = (ConnectionTable(counts, Self.times), ConnectionTable(counts, Self.times))
        #expect(one.enter(Self.first, now: 0).place == 0 && one.enter(Self.first, now: 0).place == 1)
        let refused = other.enter(Self.address("192.0.2.2"), now: 1)
        #expect(refused.place == nil && refused.leaving == [])
        one.leave(0)
        #expect(other.enter(Self.address("192.0.2.2"), now: 1).place == 0)
        #expect(one.enter(Self.first, now: 2).leaving == [1])
    }

    @Test("of those that came in one millisecond the first gives way, not any, and the newest is the last of all")
    func oneMillisecond() {
        var table = Self.table(total: 32, perAddress: 32)
        let house = (0..<32).compactMap { _ in table.enter(Self.first, now: 5).place }
        var left: [Int] = []
        for _ in 0..<16 { left += table.enter(Self.first, now: 5).leaving }
        #expect(left == Array(house[..<16]))
    }

    @Test("who holds all seats with requests that drip locks nobody out for longer than a good client needs")
    func pressed() throws {
        var table = Self.table(total: 32, perAddress: 16)
        for address in ["192.0.2.1", "192.0.2.2"] {
            for number in 0..<16 {
                let place = try #require(table.enter(Self.address(address), now: Int64(number)).place)
                table.set(place, number % 2 == 0 ? .receiving : .sending, isRenewed: true, now: Int64(number))
            }
        }
        let third = Self.address("192.0.2.3")
        #expect(table.enter(third, now: 4).place == nil, "whose request has just begun keeps its seat")
        let entered = table.enter(third, now: 12)
        #expect(entered.place != nil && entered.leaving == [0])
        // A client alone would have had ten.
        #expect(table.overdue(now: 9) == [])
        // A connection that waits for the relay itself has no time limit.
        var working = Self.table(total: 1, perAddress: 1)
        let place = try #require(working.enter(Self.first, now: 0).place)
        working.set(place, .working, isRenewed: true, now: 0)
        #expect(working.enter(third, now: 1_000_000).place == nil)
    }
}
