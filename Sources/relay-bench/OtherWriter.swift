// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import Synchronization
import Threading

/// Writes to the store while something else does: registers one and the same device again and again, as an app does, over the
/// control socket. Waits for each answer and rests for a moment, so that it costs next to nothing itself.
final class OtherWriter: Sendable {
    struct Waits {
        var count: Int
        /// Milliseconds from the request to its answer.
        var median: Double
        var worst: Double
    }

    private struct State {
        var waits: [Double] = []
        var isEnding = false
        var failure: (any Error)?
    }

    /// Of a device that no import brings.
    private static let number = 99_999_999
    /// Microseconds between two writes.
    private static let rest: UInt32 = 5000

    private let client: HTTPClient
    private let request: HTTPRequest
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    init(socket: String) {
        client = HTTPClient(unixSocket: socket)
        var device: [UInt8] = []
        Sender.appendDevice(Self.number, to: &device)
        let token = String(decoding: device.prefix(Sender.tokenLength), as: UTF8.self)
        let telephone = String(decoding: device.dropFirst(Sender.tokenLength), as: UTF8.self)
        var request = HTTPRequest("PUT", "http://relay/v1/apps/\(Sender.topic)/\(Stage.platform)/devices/\(token)")
        request.headers = [(name: "content-type", value: "application/json")]
        request.body = .bytes(Array("{\"telephone\":\"\(telephone)\",\"version\":\"1.0.0\"}".utf8))
        self.request = request
    }

    /// Starts the thread, once a first write has gone through.
    func begin() throws {
        _ = try write()
        try NativeThread(name: "other writer") { self.run() }.detach()
    }

    /// Waits for the answer that is on its way.
    func end() throws -> Waits {
        state.withLock { $0.isEnding = true }
        ended.wait()
        let (waits, failure) = state.withLock { ($0.waits.sorted(), $0.failure) }
        if let failure { throw failure }
        guard let worst = waits.last else {
            throw BenchError("nobody wrote beside the import: give more --import-rows")
        }
        return Waits(count: waits.count, median: waits[waits.count / 2], worst: worst)
    }

    private func run() {
        defer { ended.signal() }
        while !state.withLock({ $0.isEnding }) {
            do {
                let wait = try write()
                state.withLock { $0.waits.append(wait) }
            } catch {
                return state.withLock { $0.failure = error }
            }
            usleep(Self.rest)
        }
    }

    private func write() throws -> Double {
        let began = ContinuousClock.now
        let answer = try client.send(request)
        guard answer.status == 200 || answer.status == 201 else {
            throw BenchError("a device was not registered: \(String(decoding: answer.body, as: UTF8.self))")
        }
        return (ContinuousClock.now - began) / .milliseconds(1)
    }
}
