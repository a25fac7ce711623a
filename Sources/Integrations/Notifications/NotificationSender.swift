// SPDX-License-Identifier: Apache-2.0
import CurlTransport
package import RelayEngine
package import RelayStore
import Signing
import WireFormat

/// One attempt to notify: signs, sends, and reads the answer. Blocks up to 20 s.
package struct NotificationSender: NotificationSending {
    /// The most bytes of an answer that are read: a refusal is shorter, and the text of a success does not matter.
    private static let longestAnswer = 64 * 1024
    /// The most characters of an error that are kept.
    private static let longestError = 300

    private let schedule = NotificationSchedule()
    private let clock: @Sendable () -> Timestamp
    private let ticks: @Sendable () -> MonotonicTime
    private let random: RandomSource

    /// The outcome of the attempt, and the next step.
    package struct Outcome: Hashable, Sendable {
        package var attempt: NotificationRecord.Attempt
        package var verdict: NotificationVerdict

        package init(attempt: NotificationRecord.Attempt, verdict: NotificationVerdict) {
            self.attempt = attempt
            self.verdict = verdict
        }
    }

    package init(
        clock: @escaping @Sendable () -> Timestamp, ticks: @escaping @Sendable () -> MonotonicTime,
        random: RandomSource = .system
    ) {
        self.clock = clock
        self.ticks = ticks
        self.random = random
    }

    package func send(
        _ due: DueNotification, _ body: [UInt8], to target: NotificationTarget,
        isCancelled: @escaping @Sendable () -> Bool
    ) -> Outcome? {
        let began = clock()
        let start = ticks()
        var attempt = NotificationRecord.Attempt(
            number: due.attempts + 1, at: began, milliseconds: 0, status: nil, error: nil)
        var retryAfter: Duration?
        do {
            let request = Self.request(body, id: due.event.id, at: began, to: target)
            let client = HTTPClient(to: .receiver, egress: target.egress)
            let response = try client.send(request, isCancelled: isCancelled)
            attempt.status = response.status
            attempt.error = ReceiverAnswer.refusal(response.status, response.body, target.format)
            retryAfter = response["retry-after"].flatMap { RetryAfter.duration($0, at: clock()) }
        } catch let error as TransportError where error.code == .cancelled {
            return nil
        } catch let error as TransportError {
            // Without the address: it is known, and its query may be confidential.
            attempt.error = String(error.reason.prefix(Self.longestError))
        } catch {
            attempt.error = String("\(error)".prefix(Self.longestError))
        }
        attempt.milliseconds = (ticks() - start).milliseconds
        let verdict = schedule.verdict(
            // A 2xx that is a refusal does not count as a success.
            attempt: attempt.number,
            status: attempt.status.flatMap { status in
                (200..<300).contains(status) && attempt.error != nil ? nil : status
            }, retryAfter: retryAfter, at: clock(),
            random: random.unit())
        return Outcome(attempt: attempt, verdict: verdict)
    }

    /// Standard Webhooks 1.0.0: the id stays the same, the timestamp is the attempt's, the signature is over both and the
    /// body.
    private static func request(
        _ body: [UInt8], id: String, at now: Timestamp, to target: NotificationTarget
    ) -> HTTPRequest {
        var request = HTTPRequest("POST", target.receiver.url)
        request.headers = [("content-type", "application/json")]
        request.headers += target.secret?.headers(id: id, at: now, body: body) ?? []
        request.body = body
        request.timeout = NotificationSchedule.timeout
        request.maximumResponse = longestAnswer
        request.cutsResponse = true
        return request
    }
}
