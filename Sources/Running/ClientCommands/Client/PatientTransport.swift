// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Terminal

/// For a daemon that may still be starting: the first request waits until `GET /healthz` is answered.
final class PatientTransport: APITransport {
    private static let pause = Duration.milliseconds(100)

    private let transport: any APITransport
    private let deadline: ContinuousClock.Instant
    private let hasAnswered = Atomic(false)

    init(_ transport: any APITransport, wait: Duration) {
        self.transport = transport
        deadline = .now + wait
    }

    /// - Throws: the failure of the last try, when the time is over.
    private func waitForAnswer() async throws {
        while !hasAnswered.load(ordering: .relaxed) {
            do {
                _ = try await transport.send(APIRequest("GET", ["healthz"]))
                hasAnswered.store(true, ordering: .relaxed)
            } catch let failure as CommandFailure where failure.code == .unreachable && .now < deadline {
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    func send(_ request: APIRequest) async throws -> APIAnswer {
        try await waitForAnswer()
        return try await transport.send(request)
    }

    func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer {
        try await waitForAnswer()
        return try await transport.pieces(request, receive: receive)
    }
}
