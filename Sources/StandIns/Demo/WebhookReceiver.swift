// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer
import RelayEngine
import Signing
import Synchronization
import Threading
import WireFormat

/// A receiver of the relay's webhooks, for trying an installation: verifies and records each, and answers valid ones with
/// 204. Any thread.
final class WebhookReceiver: RequestHandler {
    let headerNames = WebhookHeaders.all
    private let verifier: WebhookVerifier
    /// The number of first requests that are answered with 503, valid or not.
    private let refused: Int
    /// The descriptor of the file that gets a line of JSON for each request; -1: none.
    private let record: Int32
    private let counts = Mutex(Counts())

    struct Counts: Sendable {
        var verified = 0
        /// Wrongly signed, or not at all.
        var unverified = 0
        /// Answered with 503 on purpose.
        var refused = 0
    }

    /// - Throws: where the record cannot be written.
    init(secret: WebhookSecret, refused: Int, record path: String?) throws {
        verifier = WebhookVerifier(secrets: [secret])
        self.refused = refused
        record = path.map { unsafe open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) } ?? -1
        guard path == nil || record >= 0 else {
            throw SystemError("the record \(path ?? "") cannot be written", errno: errno)
        }
    }

    deinit { if record >= 0 { close(record) } }

    /// The counts so far.
    var figures: Counts { counts.withLock { $0 } }

    func handle(_ head: RequestHead) -> any HandledRequest { Delivery(head, self) }
    func refuse(_ refusal: RequestRefusal) -> Response { Self.answer(refusal.status, refusal.detail) }
    func refused(_ refusal: PeerRefusal) {}

    private static func answer(_ status: Int, _ text: String) -> Response {
        Response(status: status, headers: [("Content-Type", "text/plain")], body: .bytes(Array("\(text)\n".utf8)))
    }

    private func take(_ head: RequestHead, _ body: [UInt8]) -> Response {
        let now = WallClock.now()
        let headers = head.headers.byName
        let verdict = verifier.verify(WebhookHeaders(headers), body: body, at: now)
        let (status, reason): (Int, String) = counts.withLock { counts in
            if counts.refused < refused {
                counts.refused += 1
                return (503, "refused, as was asked for")
            }
            switch verdict {
            case .verified:
                counts.verified += 1
                return (204, "")
            case .refused(let refusal):
                counts.unverified += 1
                return (401, refusal.description)
            }
        }
        keep(head, body, status, at: now)
        return status == 204 ? .noContent : Self.answer(status, reason)
    }

    private func keep(_ head: RequestHead, _ body: [UInt8], _ status: Int, at now: Timestamp) {
        guard record >= 0 else { return }
        var line = JSONWriter()
        line.object { line in
            line.member("at", now)
            line.member("status", Int64(status))
            line.member("path", head.target)
            line.member("id", head.headers[WebhookHeaders.id])
            line.member("body", String(decoding: body, as: UTF8.self))
        }
        line.newLine()
        // One call: lines of two threads do not mix (O_APPEND).
        _ = WholeFile.append(line.bytes, to: record)
    }

    /// One request.
    private final class Delivery: HandledRequest {
        let id = "-"
        private let head: RequestHead
        private let receiver: WebhookReceiver

        init(_ head: RequestHead, _ receiver: WebhookReceiver) { (self.head, self.receiver) = (head, receiver) }

        func open() -> Opening {
            guard head.method == "POST" else { return .answer(answer(405, "webhooks come by POST")) }
            return .work(.writes) { [head, receiver] in
                .collect(limit: 1 << 20) { receiver.take(head, $0) }
            }
        }

        func refuse(_ refusal: RequestRefusal) -> Response { receiver.refuse(refusal) }
        func failed(_ error: any Error) {}
        func conclude(_ response: Response) -> Response { response }
    }
}
