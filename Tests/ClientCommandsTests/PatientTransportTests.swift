// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Synchronization
import Terminal
import Testing

@testable import ClientCommands

/// FAULTS 4: README's blocks as one script race the daemon's start.
@Suite struct PatientTransportTests {
    /// A daemon that is not there for the first `count` requests.
    private final class Starting: APITransport {
        let left: Atomic<Int>
        let asked = Mutex<[String]>([])

        init(_ count: Int) { left = Atomic(count) }

        func send(_ request: APIRequest) async throws -> APIAnswer {
            asked.withLock { $0.append(request.path) }
            guard left.wrappingSubtract(1, ordering: .relaxed).newValue < 0 else {
                throw CommandFailure(.unreachable, "the daemon is not reachable")
            }
            return APIAnswer(status: 200, body: Array(#"{"items":[],"next":null}"#.utf8))
        }

        func pieces(
            _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
        ) async throws -> APIAnswer { try await send(request) }
    }

    @Test func `With --wait a daemon that starts is waited for, and then asked once`() async {
        let daemon = Starting(3)
        let transcript = Transcript()
        #expect(await transcript.run(["tokens", "list", "--wait", "10m"], daemon) == .done)
        #expect(daemon.asked.withLock { $0 } == ["/healthz", "/healthz", "/healthz", "/healthz", "/v1/tokens"])
    }

    @Test func `Without it, and when the time is over, the daemon is not reachable`() async {
        for words in [["tokens", "list"], ["tokens", "list", "--wait", "1ms"]] {
            let transcript = Transcript()
            #expect(await transcript.run(words, Starting(1_000_000)) == .unreachable)
            #expect(transcript.err.contains("the daemon is not reachable"))
        }
        let transcript = Transcript()
        #expect(await transcript.run(["tokens", "list", "--wait", "soon"], Starting(0)) == .usage)
        #expect(transcript.err.contains("--wait: \"soon\" is not a time"), "\(transcript.err)")
    }
}
