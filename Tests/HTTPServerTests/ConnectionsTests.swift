// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import OwnThread
import RelayEngine
import Testing

@testable import HTTPServer

@Suite("Connections: deadlines, room, and who gives way")
struct ConnectionsTests {
    static let times = ConnectionTimes(idle: 30, request: 10)

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

    /// The pairs of one test: they live as long as it, for `Connections` uses a descriptor until `closed`. One that is closed
    /// before that is another test's socket by then, and what would have been cut off is that one.
    private final class Pairs {
        private var all: [Pair] = []

        func add(_ address: String = "192.0.2.1", opened: Int64 = 0) -> Pair {
            let pair = Pair(address, opened: opened)
            all.append(pair)
            return pair
        }
    }

    private let pairs = Pairs()

    /// A connection with a real socket, so that being cut off can be seen: its peer reads the end.
    final class Pair {
        let connection: Connection
        private let peer: Int32

        init(_ address: String = "192.0.2.1", opened: Int64 = 0) {
            var ends: [Int32] = [0, 0]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends)
            connection = Connection(
                socket: ends[0], peer: ConnectionsTests.address(address), times: ConnectionsTests.times, now: opened)
            peer = ends[1]
        }

        deinit {
            close(connection.socket)
            close(peer)
        }

        var isCut: Bool {
            var byte: UInt8 = 0
            return recv(peer, &byte, 1, Int32(MSG_DONTWAIT)) == 0
        }
    }

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
        let connections = try Connections(.init(total: 8, perAddress: 8))
        let pair = pairs.add()
        connections.opened(pair.connection)
        _ = connections.sweep(now: 29)
        #expect(!pair.isCut)
        pair.connection.requestBegan(now: 20)
        #expect(connections.sweep(now: 29).overdue == 0)
        pair.connection.waits()
        _ = connections.sweep(now: 1_000_000)
        #expect(!pair.isCut)
        pair.connection.progressed(now: 100)
        _ = connections.sweep(now: 109)
        #expect(!pair.isCut)
        pair.connection.requestEnded(now: 109)
        _ = connections.sweep(now: 138)
        #expect(!pair.isCut)
        pair.connection.requestBegan(now: 138)
        #expect(connections.sweep(now: 148).overdue == 1)
        #expect(pair.isCut)
        #expect(connections.count == 0)
        #expect(connections.sweep(now: 149).overdue == 0)
    }

    @Test("the longest idle of an address give way to a new one of it, and those who are at work never do")
    func perAddress() throws {
        let connections = try Connections(.init(total: 100, perAddress: 2))
        let (busy, old, other) = (pairs.add(), pairs.add(opened: 5), pairs.add("192.0.2.2", opened: 1))
        for pair in [busy, old, other] { #expect(connections.opened(pair.connection)) }
        busy.connection.requestBegan(now: 6)
        let new = pairs.add(opened: 7)
        #expect(connections.opened(new.connection))
        #expect(old.isCut)
        #expect(!busy.isCut && !other.isCut && !new.isCut)
        new.connection.requestBegan(now: 8)
        let (refused, elsewhere) = (pairs.add(opened: 9), pairs.add("192.0.2.2", opened: 9))
        #expect(!connections.opened(refused.connection))
        #expect(refused.isCut)
        #expect(connections.opened(elsewhere.connection))
        #expect(connections.sweep(now: 9) == .init(refused: 1, overdue: 0, evicted: 1))
        // Closed after it was cut: it is not counted off twice.
        for pair in [old, refused, new, elsewhere] { connections.closed(pair.connection) }
        #expect(connections.count == 2)
        #expect(connections.opened(pairs.add(opened: 10).connection))
    }

    @Test("a full house makes room among the idle, the longest first and a sixteenth at once")
    func total() throws {
        let connections = try Connections(.init(total: 32, perAddress: 32))
        let house = (0..<32).map { pairs.add("198.51.100.\($0)", opened: Int64($0)) }
        for pair in house { connections.opened(pair.connection) }
        let new = pairs.add("192.0.2.1", opened: 32)
        #expect(connections.opened(new.connection))
        let cut = house.map(\.isCut)
        #expect(cut == [true, true] + [Bool](repeating: false, count: 30))
        #expect(connections.count == 31)
        #expect(connections.closeAll(patience: 0) == false)
        #expect(house.allSatisfy { $0.isCut } && new.isCut)
        let late = pairs.add("192.0.2.2", opened: 33)
        #expect(!connections.opened(late.connection))
        for pair in house + [new, late] { connections.closed(pair.connection) }
        #expect(connections.closeAll(patience: 0))
    }

    @Test("of those that came in one millisecond the first gives way, not any, and the newest is the last of all")
    func oneMillisecond() throws {
        let connections = try Connections(.init(total: 32, perAddress: 32))
        let house = (0..<32).map { _ in pairs.add(opened: 5) }
        for pair in house { connections.opened(pair.connection) }
        let late = (0..<16).map { _ in pairs.add(opened: 5) }
        for pair in late { #expect(connections.opened(pair.connection)) }
        #expect(house.map(\.isCut) == (0..<32).map { $0 < 16 })
        #expect(!late.contains { $0.isCut })
        for pair in house + late { connections.closed(pair.connection) }
    }

    @Test("the end waits for who is on its way, and cuts it off when it comes")
    func arriving() throws {
        let connections = try Connections(.init(total: 8, perAddress: 8))
        let late = pairs.add()
        connections.expect()
        connections.expect()
        #expect(!connections.closeAll(patience: 0))
        #expect(!connections.opened(late.connection))
        #expect(late.isCut)
        connections.closed(late.connection)
        connections.arrived()
        #expect(!connections.closeAll(patience: 0))
        // The other one could not be served.
        connections.arrived()
        #expect(connections.closeAll(patience: 0))
    }

    @Test("too many on their way hold up the next one until one has come", .ownThread)
    func backPressure() throws {
        let connections = try Connections(.init(total: 64, perAddress: 64))
        for _ in 0..<16 { connections.expect() }
        let (begun, passed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        DispatchQueue.global().async {
            begun.signal()
            connections.expect()
            passed.signal()
        }
        begun.wait()
        #expect(passed.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        connections.opened(pairs.add().connection)
        connections.arrived()
        #expect(passed.wait(timeout: .now() + .seconds(60)) == .success)
    }

    @Test("ten lines at once, then one in ten seconds that says how many were left out")
    func pace() {
        var pace = LogPace()
        let first = (0..<100).map { pace.next(at: 1_000_000 + Int64($0)) }
        #expect(first.count { $0 != nil } == 10)
        #expect(pace.next(at: 1_000_000 + LogPace.interval) == 90)
        #expect(pace.next(at: 1_000_001 + LogPace.interval) == nil)
        #expect(pace.next(at: 1_000_000 + 3 * LogPace.interval) == 1)
    }
}
