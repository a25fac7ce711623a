// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import UpgradeRules

/// What a push service said of tokens of late, shared by all campaigns of an app.
final class JudgedTokens {
    /// Called dead, and not retired yet.
    var unregistered = UnregisteredWindow<TokenRetirement>()
    /// Taken by the app's other environment, and not moved there yet.
    var moved = UnregisteredWindow<Settlement.Push>()
    /// What the store has of them, with the commits that are on their way there; nil: it was not asked yet.
    private var stored: [TokenDoubt.Kind: JudgedAnswers]?

    /// Goes on where the last life of the process ended.
    func begin(_ read: () throws -> [TokenDoubt]) rethrows {
        guard stored == nil else { return }
        let known = Dictionary(uniqueKeysWithValues: try read().map { ($0.kind, $0.judged) })
        stored = known
        if let dead = known[.dead] { unregistered = UnregisteredWindow(dead) }
        if let other = known[.moved] { moved = UnregisteredWindow(other) }
    }

    /// What the store is to have instead of what it has.
    func changes(at environment: PushEnvironment) -> [TokenDoubt] {
        guard let known = stored else { return [] }
        let now: [(TokenDoubt.Kind, JudgedAnswers)] = [(.dead, unregistered.memory), (.moved, moved.memory)]
        let changed = now.filter { kind, judged in known[kind, default: JudgedAnswers()] != judged }
        for (kind, judged) in changed { stored?[kind] = judged }
        return changed.map { TokenDoubt(environment, $0, $1) }
    }
}

/// One push service as the fan-out uses it: what decides what goes there, and the connections that lead there.
///
/// Belongs to the fan-out's thread.
final class PushService {
    /// What sends one campaign of an app at a time. Those that go on beside each other have services of their own.
    enum Track: Hashable, Comparable {
        case everybody
        /// For some users alone.
        case staged
        /// Of a block, by its requirement.
        case block(Int64)

        /// Whether no later campaign goes by it.
        var isOfOneCampaign: Bool { if case .block = self { true } else { false } }

        /// In the name of a service.
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
        var environment: PushEnvironment
        var track = Track.everybody

        static func < (left: Key, right: Key) -> Bool {
            (left.app, left.environment, left.track) < (right.app, right.environment, right.track)
        }

        /// The name of the service's faults. The sandbox has its own: its good health says nothing about production.
        func part(_ kind: String) -> String {
            "\(kind):\(app.app)" + (app.platform == .android ? "/android" : "")
                + (environment == .production ? "" : "/sandbox") + track.suffix
        }
    }

    let key: Key
    /// Among those that share a pace or a quota.
    let name: String
    var machine: ServiceMachine
    let connections: ServiceConnections
    /// Tokens that the app's other service called bad go over connections of their own: where these cannot be made, the
    /// pushes that belong here must not come back with them.
    let secondTryConnections: ServiceConnections
    /// One for all campaigns of the app in the environment.
    let tokens: JudgedTokens
    /// Until when no second tries are made here.
    var secondTriesRestUntil: MonotonicTime?
    /// What the service answers in its outage, such as "503 ServiceUnavailable".
    var outageText = ""
    /// The wall clock as it is: credentials are signed and judged by it, also while the dispatcher does not believe it yet.
    let clock: @Sendable () -> Timestamp
    private let configuration: PoolConfiguration
    /// Host and port, as pauses of a credential are noted by.
    var server: String { configuration.origin.authority }
    let provider: any PushProvider
    let quota: QuotaLimit?
    private var known: (campaign: CampaignKey, template: PushTemplate, until: Timestamp)?

    init(
        _ key: Key, route: AppRoute, machine: ServiceMachine, lanes: LaneSet,
        clock: @escaping @Sendable () -> Timestamp, tokens: JudgedTokens
    ) {
        self.clock = clock
        self.tokens = tokens
        self.key = key
        name = key.part("service")
        self.machine = machine
        configuration = route.pool(for: key.environment)
        provider = route.provider(for: key.environment)
        quota = provider.quota
        connections = ServiceConnections(lanes, configuration, provider.answerJudge)
        secondTryConnections = ServiceConnections(lanes, configuration, provider.answerJudge)
    }

    /// Whether what no connection could be had for is recorded as waiting, and not read again as if nothing had been. Of
    /// development builds: they are few, and their users look at what became of each.
    var reportsUnreachable: Bool { key.environment == .sandbox }

    var providerName: String { provider.name }

    func sharesCredential(of other: any PushProvider) -> Bool { provider.credential == other.credential }

    /// The request template with a credential that is fit for use, made anew every minute at most.
    ///
    /// - Throws: what keeps the credential from being used.
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

    /// Moves the devices to the app's other environment, unless they have registered since.
    func corrections(of pushes: [Settlement.Push]) -> [EnvironmentCorrection] {
        pushes.map {
            EnvironmentCorrection(
                device: $0.device, environment: key.environment.other, registeredAt: $0.registeredAt)
        }
    }

    /// Hands back what no lane has sent yet.
    func withdraw() {
        connections.withdraw()
        secondTryConnections.withdraw()
    }

    /// Closes every connection; what is still out on one comes back as lost.
    func close() {
        connections.close()
        secondTryConnections.close()
    }
}
