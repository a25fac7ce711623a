// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// A push service's recent answers about tokens, shared by all campaigns of an app.
final class JudgedTokens {
    /// Tokens called dead, and not retired yet.
    var unregistered = UnregisteredWindow<TokenRetirement>()
    /// Tokens taken by the app's other environment, whose devices are not moved there yet.
    var moved = UnregisteredWindow<Settlement.Push>()
    /// The answers in the store, with the commits that are on their way there; nil: the store was not read yet.
    private var stored: [TokenDoubt.Kind: JudgedAnswers]?

    /// Takes up the answers that the store has from earlier, once.
    func begin(_ read: () throws -> [TokenDoubt]) rethrows {
        guard stored == nil else { return }
        let known = Dictionary(uniqueKeysWithValues: try read().map { ($0.kind, $0.judged) })
        stored = known
        if let dead = known[.dead] { unregistered = UnregisteredWindow(dead) }
        if let other = known[.moved] { moved = UnregisteredWindow(other) }
    }

    /// The answers that differ from the stored ones. They count as stored from then on.
    func changes(at channel: Channel) -> [TokenDoubt] {
        guard let known = stored else { return [] }
        let now: [(TokenDoubt.Kind, JudgedAnswers)] = [(.dead, unregistered.memory), (.moved, moved.memory)]
        let changed = now.filter { kind, judged in known[kind, default: JudgedAnswers()] != judged }
        for (kind, judged) in changed { stored?[kind] = judged }
        return changed.map { TokenDoubt(channel, $0, $1) }
    }
}

/// One push service as the fan-out uses it: its machine, which decides what is sent there, and its connections.
///
/// Belongs to the fan-out's thread.
final class PushService {
    /// A track sends one campaign of an app at a time. Campaigns that are sent side by side have services of their own.
    enum Track: Hashable, Comparable {
        case everybody
        /// For some users alone.
        case staged
        /// For a blocked version, by its requirement.
        case block(Int64)

        /// Whether no later campaign uses it.
        var isOfOneCampaign: Bool { if case .block = self { true } else { false } }

        /// The track's part in the name of a service.
        var suffix: String {
            switch self {
            case .everybody: ""
            case .staged: "/staged"
            case .block(let requirement): "/block-\(requirement)"
            }
        }
    }

    struct Key: Hashable, Comparable {
        var app: AppKey
        var channel: Channel
        var track = Track.everybody

        static func < (left: Key, right: Key) -> Bool {
            (left.app, left.channel, left.track) < (right.app, right.channel, right.track)
        }

        /// The name of the service's faults. The sandbox has its own: its good health proves nothing about production.
        func part(_ kind: String) -> String {
            "\(kind):\(app.app)" + (app.platform == .android ? "/android" : "")
                + (channel == .production ? "" : "/\(channel.label(on: app.platform))") + track.suffix
        }
    }

    let key: Key
    /// The service as the limits know it that it shares with others.
    let limited: SharedLimits.Service
    var machine: ServiceMachine
    let connections: ServiceConnections
    /// The number of pushes that fill its connections.
    var pushesAtOnce: Int { connections.streams * provider.pushesPerRequest }
    /// The connections for tokens that the app's other service called bad: where these cannot be made, the service's
    /// own pushes must not be handed back, too.
    let secondTryConnections: ServiceConnections
    /// Shared by all campaigns of the app in the channel.
    let tokens: JudgedTokens
    /// The time until which no second tries are made here; nil: they are made.
    var secondTriesRestUntil: MonotonicTime?
    /// The service's answer in its outage, such as "503 ServiceUnavailable".
    var outageText = ""
    /// The wall clock as it is: credentials are signed and judged by it, also while the dispatcher does not believe it yet.
    let clock: @Sendable () -> Timestamp
    private let configuration: PoolConfiguration
    /// Host and port, the name under which pauses of a credential are noted.
    var server: String { configuration.origin.authority }
    let provider: any PushProvider
    var quota: QuotaLimit? { limited.quota }
    private var known: (campaign: CampaignKey, template: PushTemplate, until: Timestamp)?

    init(
        _ key: Key, route: AppRoute, machine: ServiceMachine, lanes: LaneSet,
        clock: @escaping @Sendable () -> Timestamp, tokens: JudgedTokens
    ) {
        self.clock = clock
        self.tokens = tokens
        self.key = key
        self.machine = machine
        let service = route.service(key.channel)
        (configuration, provider) = (service.pool, service.provider)
        limited = SharedLimits.Service(name: key.part("service"), app: key.app, quota: provider.quota)
        connections = ServiceConnections(lanes, configuration, provider.answerJudge, by: provider.transport)
        secondTryConnections = ServiceConnections(lanes, configuration, provider.answerJudge, by: provider.transport)
    }

    /// Whether a push that found no connection is recorded as waiting, instead of being read again as if it had not been tried.
    /// True for development builds: they are few, and their users look at the outcome of each push.
    var reportsUnreachable: Bool { key.channel.environment == .sandbox }

    var providerName: String { provider.name }

    func sharesCredential(of other: any PushProvider) -> Bool { provider.credential == other.credential }

    /// The request template with a credential that is fit for use, made anew every minute at most.
    ///
    /// - Throws: the fault that keeps the credential from being used.
    func template(for run: CampaignRun) throws -> PushTemplate {
        let now = clock()
        if let known, known.campaign == run.record.key, now < known.until { return known.template }
        let made = try provider.template(
            for: run.payload, of: run.record.id, authority: configuration.origin.authority,
            expiresAt: run.record.facts.expiresAt, at: now)
        known = (run.record.key, made, now + .seconds(60))
        return made
    }

    func forgetTemplate() {
        known = nil
    }

    func place(of run: CampaignRun) -> SendingPlace {
        run.route.place(configuration.origin.description, campaign: run.record.id, at: clock())
    }

    /// The corrections that move the pushes' devices to the app's other environment, unless they have registered since.
    func corrections(of pushes: [Settlement.Push]) -> [EnvironmentCorrection] {
        pushes.map {
            EnvironmentCorrection(
                device: $0.device, channel: key.channel.other, registeredAt: $0.registeredAt)
        }
    }

    /// Hands back the batches that no lane has sent yet.
    func withdraw() {
        connections.withdraw()
        secondTryConnections.withdraw()
    }

    /// Closes every connection; pushes that are still out on one come back as lost.
    func close() {
        connections.close()
        secondTryConnections.close()
    }
}
