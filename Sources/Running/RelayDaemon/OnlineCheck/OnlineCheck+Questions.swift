// SPDX-License-Identifier: Apache-2.0
import Configuration
import CurlTransport
import FanOut
import HTTP2
import Notifications
import PushProviders
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreDrivers
import Telemetry
import Threading
import UpgradeRules
import VersionSources
import WireFormat

extension OnlineCheck {
    /// The turns for all services. Reads the keys here, so that apps with the same key share its token, as in the daemon.
    func turns() throws -> [Turn] {
        let silent = Log(minimum: .error) { _, _, _ in }
        let active = try ActiveConfiguration(
            configuration, store: nil, environment: environment, tokenSources: TokenSources(), log: silent, clock: clock
        )
        var turns = [store].compactMap(\.self)
        for app in configuration.apps {
            if let route = active.routes[app.key] { turns += pushes(of: app, by: route).map { Turn(questions: [$0]) } }
        }
        turns += try sources()
        turns += active.notify.enumerated().map { Turn(questions: [event(to: $1, "notify[\($0)]")]) }
        return turns
    }

    // MARK: The store

    /// nil: the store is a file, so there is no server to ask.
    private var store: Turn? {
        guard case .postgres = configuration.store.database else { return nil }
        let field = "store.postgres"
        return Turn(questions: [
            Question(
                field: field,
                askAll: { [configuration, environment] in
                    StoreDriver.inquire(configuration.store, environment: environment).map { answer in
                        let result: OnlineFinding.Result =
                            switch answer.weight {
                            case .good: .good
                            case .limited: .limited
                            case .failed: .failed
                            }
                        return OnlineFinding(field: field, result: result, answer: answer.text, remedy: answer.remedy)
                    }
                })
        ])
    }

    // MARK: Push services

    /// A question for each channel of the app's providers.
    private func pushes(of app: AppConfiguration, by route: AppRoute) -> [Question] {
        route.inOrder.flatMap { channel, production in
            guard channel.environment == .production else { return [Question]() }
            let field = "\(AppConfiguration.field(app.key)).\(channel.provider(on: app.key.platform).rawValue)"
            let sandbox = route.service(channel.other)
            // A push service may have no sandbox, and one server of the owner's may take the place of two.
            let isOneWorld =
                production.pool == sandbox.pool && production.provider.identity == sandbox.provider.identity
            return (isOneWorld ? [channel] : [channel, channel.other]).compactMap { channel in
                guard let trial = route.service(channel).provider.trial else { return nil }
                let detail = isOneWorld ? nil : channel.environment.name
                return Question(field: field, detail: detail, way: way(by: route, channel)) { [clock] in
                    let push = TestPush(
                        route: route, token: trial.token, telephone: "", channel: channel, message: nil,
                        downloadURL: route.downloadURL ?? "https://example.com")
                    var finding = Self.finding(of: push.send(clock: clock), trial, channel, at: field)
                    finding.detail = detail
                    return finding
                }
            }
        }
    }

    /// The way to the push service, and the way to its credentials where that differs.
    private func way(by route: AppRoute, _ channel: Channel) -> String {
        let dialer = route.service(channel).pool.dialer
        let way = dialer.egress.way(to: dialer.host, port: dialer.port)
        guard let url = route.service(channel).provider.credentialURL else { return way }
        let tokens = dialer.egress.way(to: url)
        return tokens == way ? way : "\(way); for access tokens \(tokens)"
    }

    /// The conclusion from the answer to a push to a made-up token.
    static func finding(
        of result: TestPushResult, _ trial: TrialPush, _ channel: Channel, at field: String
    ) -> OnlineFinding {
        let word = result.reason ?? "HTTP \(result.status.map(String.init) ?? "none")"
        switch result.state {
        case .rejected where word == trial.refusal, .unregistered:
            return OnlineFinding(
                field: field, result: .good,
                answer: "\(result.server) refused the made-up token alone (\(word)): \(trial.parts) are right")
        case .accepted:
            return OnlineFinding(
                field: field, result: .failed, answer: "\(result.server) took a push for a token that no device has",
                remedy: "what answers there is not the push service; check \(field).server")
        default:
            let isForOther = channel.environment == .sandbox && trial.otherWorld.contains(word)
            return OnlineFinding(
                field: field, result: isForOther ? .limited : .failed,
                answer: "\(result.server): \(word)"
                    + (isForOther ? ": development builds get no push" : ""),
                remedy: result.remedy)
        }
    }

    // MARK: Sources

    private func sources() throws -> [Turn] {
        let probe = SourceProbe(clock: clock)
        var (alone, paced): ([Turn], [String: Turn]) = ([], [:])
        var (names, numbers): ([String], [AppKey: Int]) = ([], [:])
        for source in try configuration.sourcePlan(environment: environment).sources {
            let number = numbers[source.app, default: 0]
            numbers[source.app] = number + 1
            let field = "\(AppConfiguration.field(source.app)).sources[\(number)]"
            let way = source.kind.dialled.map { $0.egress.way(to: $0.url) }
            let question = Question(field: field, way: way) {
                do throws(SourceFault) {
                    return OnlineFinding(field: field, result: .good, answer: try probe.read(source.kind))
                } catch {
                    // The reason includes what would be right, as in /readyz.
                    return OnlineFinding(field: field, result: .failed, answer: error.reason)
                }
            }
            guard let pace = source.kind.pace else {
                alone.append(Turn(questions: [question]))
                continue
            }
            if paced[pace.name] == nil { names.append(pace.name) }
            paced[pace.name, default: Turn(questions: [], spacing: pace.spacing)].questions.append(question)
        }
        return names.compactMap { paced[$0] } + alone
    }

    // MARK: Receivers

    private func event(to target: NotificationTarget, _ field: String) -> Question {
        let host = NotifierFigures.label(target.receiver.url)
        return Question(field: field, detail: host, way: target.egress.way(to: target.receiver.url)) { [clock] in
            let now = clock()
            let event = RelayEvent(
                id: Hex.encode((0..<16).map { _ in .random(in: .min ... .max) }), type: .degraded, at: now,
                subject: .part("check-config", reason: ""))
            let sender = NotificationSender(clock: clock, ticks: MonotonicClock.now)
            let attempt = sender.send(
                DueNotification(row: 0, attempts: 0, event: event),
                NotificationDocument.test(at: now, in: target.format), to: target, isCancelled: { false })?.attempt
            guard let attempt, let status = attempt.status, attempt.error == nil else {
                let trouble = attempt?.error ?? "nothing was sent"
                return OnlineFinding(
                    field: field, detail: host, result: .failed, answer: "the test event was not taken: \(trouble)",
                    remedy: "check \(field).url, and what the receiver says of this event: its secret must be "
                        + "\(field).secret, and this machine's clock right")
            }
            return OnlineFinding(
                field: field, detail: host, result: .good, answer: "took the test event (HTTP \(status))")
        }
    }
}
