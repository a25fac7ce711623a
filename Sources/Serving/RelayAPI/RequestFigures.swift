// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayEngine
import Synchronization
import Telemetry

/// Requests counted by route: written by the connections' threads, once for each answer.
final class RequestFigures: Sendable {
    private struct Answers {
        var byClass: [Int: Int] = [:]
        var durations = LatencyHistogram()

        mutating func add(_ status: Int, _ duration: Duration) {
            byClass[status / 100, default: 0] += 1
            durations.add(duration)
        }
    }

    private struct Webhook: Hashable {
        var kind: String
        var result: String
    }

    private struct State {
        /// By method and route, as `pattern` writes them: split only when the metrics are written.
        var answers: [String: Answers] = [:]
        var webhooks: [Webhook: Int] = [:]
    }

    private let state = Mutex(State())

    func count(_ route: Route?, method: String, _ response: Response, _ duration: Duration) {
        let pattern = Self.pattern(route, method)
        let webhook = route?.webhook.map { Webhook(kind: $0, result: Self.result(response)) }
        state.withLock { state in
            state.answers[pattern, default: Answers()].add(response.status, duration)
            if let webhook { state.webhooks[webhook, default: 0] += 1 }
        }
    }

    /// The method and route under which a request counts, as in `Route.pattern`, without a client's own text. A HEAD counts as
    /// its GET.
    static func pattern(_ route: Route?, _ method: String) -> String {
        let isKnown = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].contains(method)
        return route?.pattern ?? "\(isKnown ? method : "other") none"
    }

    private static func result(_ response: Response) -> String {
        switch response.status {
        case _ where response.isReplay: "replayed"
        case 200..<300: "accepted"
        case 401: "unauthorized"
        case 409: "conflict"
        case 413: "tooLarge"
        case 400..<500: "invalid"
        default: "failed"
        }
    }

    func write(to text: inout MetricsText) {
        let state = state.withLock { $0 }
        let answers = state.answers.map { pattern, answers in
            let parts = pattern.split(separator: " ").map(String.init)
            return (method: parts[0], route: parts[1], answers)
        }.sorted { ($0.route, $0.method) < ($1.route, $1.method) }
        text.write(
            .requestsAnswered,
            answers.flatMap { method, route, answers in
                answers.byClass.sorted { $0.key < $1.key }.map { ([method, route, "\($0.key)xx"], Double($0.value)) }
            })
        text.write(.requestDuration, answers.map { method, route, answers in ([method, route], answers.durations) })
        let webhooks = state.webhooks.sorted { ($0.key.kind, $0.key.result) < ($1.key.kind, $1.key.result) }
        text.write(.webhooks, webhooks.map { ([$0.key.kind, $0.key.result], Double($0.value)) })
    }
}
