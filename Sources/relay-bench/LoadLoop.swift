// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import RelayEngine
import Threading

/// Requests over a few connections that are kept, one at a time on each, from one thread.
///
/// A process of its own (`relay-bench load`), so that its CPU can be told and taken off. Costs some microseconds a request,
/// nearly all of it the kernel's.
struct LoadLoop {
    struct Order: Codable {
        var port: UInt16
        var connections: Int
        var milliseconds: Int
        /// Path and query. With `devices` another one's push token follows at each request.
        var target: String
        var devices: Int?
        var bearer: String?
        /// nil: any.
        var processor: Int?
    }

    struct Result: Codable {
        var requests: Int
        /// Nanoseconds.
        var elapsed: UInt64
        /// Microseconds from the request's first byte to the answer's last.
        var p50: Int
        var p99: Int
        /// Nanoseconds, of the whole process.
        var cpu: UInt64
    }

    private struct Connection {
        var socket: Int32
        var sentAt: UInt64 = 0
        /// Of an answer that is not complete.
        var received: [UInt8] = []
    }

    private let order: Order
    private var request: [UInt8]
    private let tokenAt: Int?
    private var device = 0
    private var scratch: [UInt8] = []
    /// How many answers took so many microseconds; the last one: as many or more.
    private var durations = [Int](repeating: 0, count: 1_000_000)

    init(_ order: Order) {
        self.order = order
        request = Array("GET \(order.target)".utf8)
        tokenAt = order.devices == nil ? nil : request.count
        if tokenAt != nil { request += [UInt8](repeating: 0x30, count: Sender.tokenLength) }
        let authorization = order.bearer.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        request += " HTTP/1.1\r\nHost: relay\r\n\(authorization)\r\n".utf8
    }

    mutating func run() throws -> Result {
        if let processor = order.processor { Processors.place(thread: 0, on: [processor]) }
        var connections = try (0..<order.connections).map { _ in Connection(socket: try Self.connect(order.port)) }
        var watched = connections.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
        var room = [UInt8](repeating: 0, count: 1 << 16)
        let began = MonotonicClock.now().nanoseconds
        let end = began + UInt64(order.milliseconds) * 1_000_000
        for index in connections.indices { try send(&connections[index], at: began) }
        var requests = 0
        var now = began
        while now < end {
            guard unsafe poll(&watched, nfds_t(watched.count), 1000) >= 0 else { throw BenchError("poll failed") }
            for index in watched.indices where watched[index].revents != 0 {
                let count = unsafe recv(connections[index].socket, &room, room.count, 0)
                guard count > 0 else { throw BenchError("the daemon closed a connection") }
                connections[index].received += room[..<count]
                guard try Self.isComplete(connections[index].received) else { continue }
                connections[index].received.removeAll(keepingCapacity: true)
                now = MonotonicClock.now().nanoseconds
                requests += 1
                let duration = Int((now - connections[index].sentAt) / 1000)
                durations[min(duration, durations.count - 1)] += 1
                try send(&connections[index], at: now)
            }
            now = MonotonicClock.now().nanoseconds
        }
        for connection in connections { close(connection.socket) }
        return Result(
            requests: requests, elapsed: now - began, p50: percentile(0.5, of: requests),
            p99: percentile(0.99, of: requests), cpu: ProcessClock.now())
    }

    private static func connect(_ port: UInt16) throws -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let isThere = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe Glibc.connect(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isThere else { throw BenchError("127.0.0.1:\(port): \(unsafe String(cString: strerror(errno)))") }
        return socket
    }

    private mutating func send(_ connection: inout Connection, at now: UInt64) throws {
        if let tokenAt, let devices = order.devices {
            scratch.removeAll(keepingCapacity: true)
            // All over the registry, as people open an app.
            device = (device + 7919) % devices
            Sender.appendDevice(device, to: &scratch)
            for index in 0..<Sender.tokenLength { request[tokenAt + index] = scratch[index] }
        }
        connection.sentAt = now
        let count = unsafe Glibc.send(connection.socket, request, request.count, Int32(MSG_NOSIGNAL))
        guard count == request.count else { throw BenchError("a request could not be sent") }
    }

    /// - Throws: where it is not 200.
    private static func isComplete(_ answer: [UInt8]) throws -> Bool {
        let name = Array("content-length:".utf8)
        guard answer.count >= 12 else { return false }
        guard answer[9] == 0x32, answer[10] == 0x30, answer[11] == 0x30 else {
            throw BenchError("not 200: \(String(decoding: answer.prefix(600), as: UTF8.self))")
        }
        var length: Int?
        var line = 0
        while let feed = answer[line...].firstIndex(of: 0x0A) {
            if feed - line <= 1 { return length.map { answer.count >= feed + 1 + $0 } ?? true }
            if answer[line] | 0x20 == name[0], feed - line > name.count,
                answer[line..<line + name.count].elementsEqual(name, by: { $0 | 0x20 == $1 | 0x20 })
            {
                length = answer[(line + name.count)..<feed].reduce(0) { sum, byte in
                    (0x30...0x39).contains(byte) ? sum * 10 + Int(byte - 0x30) : sum
                }
            }
            line = feed + 1
        }
        return false
    }

    private func percentile(_ share: Double, of requests: Int) -> Int {
        var left = Int(Double(requests) * share)
        for (duration, count) in durations.enumerated() {
            left -= count
            if left <= 0 { return duration }
        }
        return durations.count
    }
}
