// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import Synchronization

/// Writes to the store during another operation: registers the same device again and again, as an app does, over the control
/// socket. It waits for each answer and pauses briefly, so that it costs next to nothing itself.
final class OtherWriter: Sendable {
    /// The number of a device that no import contains.
    private static let number = 99_999_999
    /// Microseconds between two writes.
    private static let rest: UInt32 = 5000

    private let client: HTTPClient
    private let request: HTTPRequest
    private let isEnding = Atomic(false)
    private let waits = Mutex<Result<[Double], any Error>>(.success([]))
    private let ended = DispatchSemaphore(value: 0)

    init(socket: String) {
        client = HTTPClient(unixSocket: socket)
        var request = HTTPRequest(
            "PUT", "http://relay/v1/apps/\(Sender.topic)/\(Stage.platform)/devices/\(Sender.token(Self.number))")
        request.headers = [(name: "content-type", value: "application/json")]
        request.body = Array("{\"telephone\":\"13899999999\",\"version\":\"1.0.0\"}".utf8)
        self.request = request
    }

    /// Writes once, and then until `body` has ended; waits for the last answer.
    /// - Returns: the milliseconds from each request to its answer, without the first request, ascending; never empty.
    func waits(while body: () throws -> Void) throws -> [Double] {
        _ = try write()
        Thread.detachNewThread { [self] in
            var all: [Double] = []
            let result = Result {
                while !isEnding.load(ordering: .relaxed) {
                    all.append(try write())
                    usleep(Self.rest)
                }
                return all
            }
            waits.withLock { $0 = result }
            ended.signal()
        }
        let outcome = Result { try body() }
        isEnding.store(true, ordering: .relaxed)
        ended.wait()
        try outcome.get()
        let sorted = try waits.withLock { try $0.get() }.sorted()
        guard !sorted.isEmpty else { throw BenchError("nobody wrote beside the import: give more --import-rows") }
        return sorted
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
