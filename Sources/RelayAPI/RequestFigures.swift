// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Synchronization

/// Requests counted by route: written by the connections' threads, once for each answer.
final class RequestFigures: Sendable {
    private struct Door: Hashable {
        var method: String
        var route: String
    }

    private struct Answers {
        var byClass: [Int: Int] = [:]
        var durations = LatencyHistogram()
    }

    private struct Webhook: Hashable {
        var kind: String
        var result: String
    }

    private struct State {
        var answers: [Door: Answers] = [:]
        var webhooks: [Webhook: Int] = [:]
    }

    private let state = Mutex(State())

    func count(_ route: Route?, method: String, _ response: Response, _ duration: Duration) {
        let door = Self.door(route, method)
        let webhook = route?.webhookKind.map { Webhook(kind: $0, result: Self.result(response)) }
        state.withLock { state in
            state.answers[door, default: Answers()].byClass[response.status / 100, default: 0] += 1
            state.answers[door, default: Answers()].durations.add(duration)
            if let webhook { state.webhooks[webhook, default: 0] += 1 }
        }
    }

    /// As `Route.pattern` has them: nothing that a client made up. A HEAD counts as its GET.
    private static func door(_ route: Route?, _ method: String) -> Door {
        guard let parts = route?.pattern.description.split(separator: " "), parts.count == 2 else {
            return Door(method: known(method), route: "none")
        }
        return Door(method: String(parts[0]), route: String(parts[1]))
    }

    static func known(_ method: String) -> String {
        ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"].contains(method) ? method : "other"
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
        let answers = state.answers.sorted { ($0.key.route, $0.key.method) < ($1.key.route, $1.key.method) }
        text.write(
            MetricCatalogue.requestsAnswered,
            answers.flatMap { door, answers in
                answers.byClass.sorted { $0.key < $1.key }.map {
                    ([door.method, door.route, "\($0.key)xx"], Double($0.value))
                }
            })
        text.write(
            MetricCatalogue.requestDuration, answers.map { ([$0.key.method, $0.key.route], $0.value.durations) })
        let webhooks = state.webhooks.sorted { ($0.key.kind, $0.key.result) < ($1.key.kind, $1.key.result) }
        text.write(MetricCatalogue.webhooks, webhooks.map { ([$0.key.kind, $0.key.result], Double($0.value)) })
    }
}

extension Route {
    fileprivate var webhookKind: String? {
        switch self {
        case .versionWebhook: "version"
        case .gitHubWebhook: "gitHub"
        case .gitLabWebhook: "gitLab"
        case .appStoreConnectWebhook: "appStoreConnect"
        default: nil
        }
    }
}
