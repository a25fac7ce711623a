// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import Testing

/// HTTP/2 by hand through `openssl s_client`: for what curl hides, such as SETTINGS and the debug data of a GOAWAY.
final class RawClient {
    struct Frame {
        var type: UInt8
        var flags: UInt8
        var stream: UInt32
        var payload: [UInt8]

        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7

        /// The value of SETTINGS_MAX_CONCURRENT_STREAMS, if this frame has one.
        var maximumStreams: UInt32? {
            guard type == Self.settings, flags == 0 else { return nil }
            for start in stride(from: 0, to: payload.count, by: 6) where payload[start + 1] == 3 {
                return payload[(start + 2)..<(start + 6)].reduce(0) { $0 << 8 | UInt32($1) }
            }
            return nil
        }
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received: [UInt8] = []
    private(set) var frames: [Frame] = []
    private(set) var isClosed = false

    init(_ server: RunningSimulator) throws {
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = [
            "s_client", "-quiet", "-alpn", "h2", "-CAfile", server.authority, "-verify_return_error", "-connect",
            // Not localhost: openssl asks /etc/hosts, which a container may not have.
            "127.0.0.1:\(server.simulator.port)",
        ]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        try send(frame(Frame.settings, 0, 0, []))
    }

    deinit {
        close()
    }

    /// Ends the client, and with it the connection. By SIGKILL: a child inherits the signal mask of the dispatch thread
    /// that starts it, and that blocks SIGTERM.
    func close() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func send(_ bytes: [UInt8]) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
    }

    func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(payload.count)
        return [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags]
            + (0..<4).map { UInt8(stream >> (24 - 8 * $0) & 255) } + payload
    }

    /// A whole request: HEADERS, then DATA with END_STREAM.
    func request(_ stream: UInt32, _ headers: [(String, String)], payload: String = Fixture.payload) -> [UInt8] {
        let (head, body) = parts(stream, headers, payload: payload)
        return head + body
    }

    /// - Parameter isLast: whether DATA carries END_STREAM.
    func parts(
        _ stream: UInt32, _ headers: [(String, String)], payload: String = Fixture.payload, isLast: Bool = true
    ) -> (head: [UInt8], body: [UInt8]) {
        (self.headers(stream, headers), frame(Frame.data, isLast ? 1 : 0, stream, Array(payload.utf8)))
    }

    /// - Parameter isLast: whether they carry END_STREAM.
    func headers(_ stream: UInt32, _ headers: [(String, String)], isLast: Bool = false) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in headers {
            // RFC 7541 section 6.2.2: literal without indexing, new name, no Huffman.
            block += [0] + length(name.utf8.count) + Array(name.utf8) + length(value.utf8.count) + Array(value.utf8)
        }
        return frame(Frame.headers, isLast ? 5 : 4, stream, block)
    }

    /// RFC 7541 section 5.1 with a prefix of 7 bits.
    private func length(_ count: Int) -> [UInt8] {
        count < 127 ? [UInt8(count)] : [127] + [UInt8((count - 127) & 127 | 128), UInt8((count - 127) >> 7)]
    }

    func acknowledgeSettings() throws {
        try send(frame(Frame.settings, 1, 0, []))
    }

    /// Reads until `found` returns true; fails after a minute, or when the server closes first.
    func read(until found: ([Frame]) -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !found(frames) {
            try #require(ContinuousClock.now < deadline, "what came was \(frames)")
            try #require(!isClosed, "the server closed after \(frames)")
            readSome()
        }
    }

    func readUntilClosed() throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !isClosed {
            try #require(ContinuousClock.now < deadline, "the server keeps the connection after \(frames)")
            readSome()
        }
    }

    /// Whether the server sends nothing for that long.
    func isQuiet(for milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return Foundation.poll(&poll, 1, milliseconds) == 0
    }

    private func readSome() {
        var poll = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard Foundation.poll(&poll, 1, 1000) == 1 else { return }
        let bytes = output.fileHandleForReading.availableData
        if bytes.isEmpty { isClosed = true }
        received += bytes
        while received.count >= 9 {
            let count = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
            guard received.count >= 9 + count else { return }
            frames.append(
                Frame(
                    type: received[3], flags: received[4],
                    stream: received[5..<9].reduce(0) { $0 << 8 | UInt32($1) }, payload: Array(received[9..<9 + count]))
            )
            received.removeFirst(9 + count)
        }
    }
}
