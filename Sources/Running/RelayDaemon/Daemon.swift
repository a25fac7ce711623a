// SPDX-License-Identifier: Apache-2.0
import Configuration
import Dispatch
import FanOut
import HTTPServer
import Notifications
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Signing
import StatusPage
import StoreDrivers
import Systemd
import Telemetry
import Terminal
import Threading
import UpgradeRules
import VersionSources
import WireFormat

/// The daemon: opens the store, starts the fan-out and the API, waits for signals, and stops all of it again.
struct Daemon {
    /// The time that stopping gives to pushes in flight and, in parallel, to requests that have begun. Operators are
    /// promised that the daemon ends within ten seconds of the first signal.
    private static let drainTime = Duration.seconds(8)
    private static let requestTime = Duration.seconds(7)

    let file: ConfigurationFile
    let environment: [String: String]
    let standardError: StandardErrorLog
    /// Whether the command line sets the log level, which then overrides the configuration.
    let isLevelFixed: Bool
    var log: Log { standardError.log }
    let tokenSources = TokenSources()
    private let membership = Membership()
    /// The database's clock, where relays share one, so that all of them go by the same time.
    var clock: @Sendable () -> Timestamp { { [membership] in WallClock.now() + membership.ahead } }

    /// Runs until SIGTERM or SIGINT.
    ///
    /// - Parameter stopsWithInput: whether the end of standard input also stops the daemon.
    func run(stopsWithInput: Bool = false) throws {
        Heap.shareArenas()
        // Before any thread starts: this changes the environment, which threads read.
        let inherited = InheritedSocket.takeAll()
        let signals = try DaemonSignals(stopsWithInput: stopsWithInput)
        let reloads = ReloadRequests(startedAt: clock()) { signals.askForReload() }
        let report = ServiceReport(log: log)
        defer { report.end() }
        let sockets = try ActivationSockets(inherited)
        let (configuration, check) = try load()
        let identity = check.identity
        adopt(configuration.log)
        warn(of: check)
        let limits = limits(of: configuration)
        // The directory may be open to all users, because the socket has permissions of its own.
        if sockets.control == nil { try OwnDirectory.make(for: configuration.listen.controlSocket, mode: 0o755) }
        // Changes are logged on a queue of their own, so that no answer waits for a slow reader of the log.
        let changes = DispatchQueue(label: "log of changes")
        defer { changes.sync {} }
        let opened = try open(configuration.store, changes: log.written(on: changes))
        let store = opened.store
        defer { withExtendedLifetime(opened) { store.close() } }
        let past = RollbackWatch(store: store, notedAt: opened.note, log: log, clock: clock)
        past.begin()
        defer { past.stop() }
        var description = NodeDescription(
            name: configuration.store.node ?? MachineName.current, release: CommandLineTool.version,
            address: configuration.listen.address.description, configuration: configuration.digest)
        (description.host, description.process) = (MachineName.current, ProcessName.own)
        let own = OwnNode(description, startedAt: clock())
        let keeper = opened.isShared ? try join(store, own.description) : nil
        let news = FleetHintHandler()
        defer {
            keeper?.stop()
            news.stop()
        }
        let active = ActiveConfiguration.Shared(
            try ActiveConfiguration(
                configuration, store: store, environment: environment, tokenSources: tokenSources,
                log: log, clock: clock))
        let versionCache = VersionCache(store: store, clock: clock) { active.current.profiles }
        // Every decision of this relay reaches the version cache through this line alone. All other changes come from another
        // relay's news, another program's rows (`onVersions`), a reload, or a store that was accepted.
        store.decisions.hear { [weak versionCache] in versionCache?.take($0) }
        // So that a clock that is wrong for a moment brings nothing into force.
        let believed = BelievedTime { [clock] in Moment(wall: clock(), tick: MonotonicClock.now()) }
        let sources = try SourceRunner(store: store, log: log) { believed.now.wall }
        let fanOut = try FanOut(
            store: store, routes: Array(active.current.routes.values), configuration: Self.fanOut(configuration),
            log: log, clock: clock,
            surroundings: { [active] app, draft, now in
                sources.surroundings(of: app, draft: draft, rules: active.current.rules(of: app), nil, at: now)
            },
            onVersions: { records in
                versionCache.note(records)
                if records.contains(where: \.requirements.isWaiting) { sources.poke() }
            })
        // Pushes that wait for a credential go on as soon as it comes.
        tokenSources.onChange { fanOut.poke() }
        let notifier = Notifier(store: store, log: log, clock: clock) { NotificationDocument.body(of: $0, in: $1) }
        let certificates = CertificateWatch(log: log)
        certificates.take(active.current.routes, at: clock())
        let requirements = RequirementControl(
            store: store, apps: { active.current.apps }, routes: { active.current.routes }, progress: fanOut,
            sources: sources, versionCache: versionCache, log: log, clock: { believed.now.wall })
        let control = DaemonControl(
            store: store, control: requirements, active: active, fanOut: fanOut, sources: sources,
            notifier: notifier, tokenSources: tokenSources, reloads: reloads, certificates: certificates,
            keeper: keeper, ownNode: own,
            listen: sockets.used(of: configuration.listen), log: log, clock: clock)
        let maintenance = Maintenance(
            store: store, log: log, certificates: certificates, clock: clock,
            troubles: { control.faults() + control.warnings() }, notify: notifier.notify,
            retirement: { active.current.apps.mapValues(\.retirement) })
        var settings = apiSettings(configuration, limits, identity, active)
        settings.server.handed = sockets.handed
        // For development: the style sheet and the script are then read from that folder at each request.
        if let folder = environment["UPGRADE_RELAY_PAGE_FILES"] { PageAssets.serve(from: folder) }
        settings.servesPage = configuration.listen.page
        settings.rendering = StatusPage.rendering
        let api = APIServer(
            store: store, control: control, settings: settings, versionCache: versionCache,
            page: configuration.listen.page ? StatusPage.routes : [])
        do {
            try api.start()
            try sources.start(
                try configuration.sourcePlan(environment: environment),
                callbacks: .init(
                    apply: { try requirements.take($0, from: $1) },
                    inForceChanged: {
                        // The cache shows the result of a look soon in any case, but a version that the look has brought
                        // into force must be shown before it is pushed.
                        versionCache.refresh()
                        fanOut.poke()
                    },
                    draft: { [active] in active.current.routes[$0]?.draft },
                    rules: { [active] in active.current.rules(of: $0) }))
            try notifier.start(active.current.notify)
            past.notify(by: notifier.notify)
            try maintenance.start(keep: .init(configuration.store))
            try past.start()
            if let keeper {
                try news.start { news in
                    hear(news, fanOut, sources, versionCache)
                    if news.concerns(["access_token"]) { api.forgetTokens() }
                }
                try keeper.start(
                    figures: { [clock] in fanOut.publishedFigures(at: clock()) }, onNews: news.take,
                    onOutdated: signals.askToStop)
            }
        } catch {
            maintenance.stop()
            notifier.stop()
            sources.stop()
            api.stop()
            fanOut.stop(within: .zero)
            throw error
        }
        sockets.compare(with: configuration.listen, log: log)
        let bound = ListenAddress(host: configuration.listen.address.host, port: api.http.port ?? 0)
        let address = sockets.network?.address ?? bound.description
        let operations = configuration.listen.operations.map {
            ListenAddress(host: $0.host, port: api.http.operationsPort ?? 0).description
        }
        report.serve(
            watching: fanOut.lanePulses.map { .init($0) } + [
                .init(fanOut.pulse, waitsFor: opened.pulse), .init(opened.pulse),
            ],
            idle: "Idle: \(Quantity.count(Int64(configuration.apps.count), "app")), listening on \(address)",
            activity: control.activity)
        log(
            .notice, "ready",
            [
                ("listen", address), ("operations", operations ?? "none"),
                ("controlSocket", sockets.control?.address ?? configuration.listen.controlSocket),
                ("apps", String(configuration.apps.count)), ("tls", identity == nil ? "off" : "on"),
            ])

        var parts = Parts(
            configuration: configuration, store: store, active: active, fanOut: fanOut, sources: sources,
            versionCache: versionCache,
            notifier: notifier, maintenance: maintenance, certificates: certificates, keeper: keeper, api: api,
            identity: identity)
        while signals.next() == .reload {
            reloads.serve(clock: clock) { isAskedFor in
                var verdict = ReloadRequests.Verdict.refused("")
                report.reload {
                    verdict = reload(&parts)
                    return if case .taken = verdict { true } else { false }
                }
                // The API records a reload that was asked for over the control socket.
                if !isAskedFor, case .taken(let taken) = verdict {
                    store.note(taken.entry(by: Signature(by: .signal, at: clock())), log: log)
                }
                return verdict
            }
        }
        reloads.close()
        report.stop()
        log(.notice, "stopping: what is in flight is finished")
        // These are asked to stop first, so that the whole wait is only as long as the longest one.
        maintenance.askToStop()
        sources.askToStop()
        fanOut.askToStop(within: Self.drainTime)
        api.stop(within: Self.requestTime)
        fanOut.stop(within: Self.drainTime)
        // After the fan-out, so that receivers are still notified of a campaign that it finished.
        notifier.askToStop()
        maintenance.stop()
        sources.stop()
        notifier.stop()
        log(.notice, "stopped")
        if keeper?.isOutdated == true {
            throw CommandFailure(
                .failed, "a newer release has changed the store, and this one must not work on it any more",
                hint: "Install that release here, too; the service manager's next start is with it")
        }
    }

    private func open(_ store: StoreConfiguration, changes: Log) throws -> OpenStore {
        do {
            return try StoreDriver.open(
                store, environment: environment, release: CommandLineTool.version, log: log, changes: changes,
                membership: membership)
        } catch let error as StoreError {
            throw CommandFailure(.failed, error.context, hint: error.hint)
        }
    }

    /// The configuration, after a check of every file that it names: throws all faults at once, as check-config reports
    /// them.
    private func load() throws -> (RelayConfiguration, ConfigurationCheck.Report) {
        let configuration = try file.load()
        let check = ConfigurationCheck(configuration: configuration, environment: environment).runFiles()
        guard check.faults.isEmpty else { throw ConfigurationError(path: file.path, faults: check.faults) }
        return (configuration, check)
    }

    /// Logs the warnings. Called after `adopt`, so that the log has its configured format and level.
    private func warn(of check: ConfigurationCheck.Report) {
        for warning in check.warnings {
            log(
                .warning, "the configuration works, but is hardly meant so",
                [("field", warning.field), ("why", warning.reason)])
        }
    }

    private func apiSettings(
        _ configuration: RelayConfiguration, _ limits: APILimits, _ identity: ServerIdentity?,
        _ active: ActiveConfiguration.Shared
    ) -> APISettings {
        var settings = APISettings(
            listen: configuration.listen.address, controlSocket: configuration.listen.controlSocket,
            webhookSecrets: { active.current.webhookSecrets }, limits: limits, clock: clock, log: log)
        settings.server.controlSocketGroup = configuration.listen.controlSocketGroup?.id
        settings.server.identity = identity
        settings.server.operations = configuration.listen.operations
        settings.checkTrust = configuration.listen.checkTrust
        settings.webOrigins = configuration.listen.corsOrigins
        settings.enforce = { active.current.enforce }
        settings.identity = { active.current.identity }
        return settings
    }

    /// The configured limits, lowered where the system has too few descriptors.
    private func limits(of configuration: RelayConfiguration) -> APILimits {
        var limits = configuration.listen.limits
        let most = max(16, OpenFiles.raiseLimit() - OpenFiles.reserve)
        if limits.server.connections > most {
            log(
                .warning, "fewer connections than configured: the limit on open files is too low",
                [("configured", String(limits.server.connections)), ("possible", String(most))])
            limits.server.connections = most
            limits.server.connectionsPerAddress = min(limits.server.connectionsPerAddress, max(1, most / 2))
        }
        return limits
    }

    /// The running parts, and the state that a reload changes.
    private struct Parts {
        /// The configuration at the start; some of its settings hold until the process ends.
        let configuration: RelayConfiguration
        let store: any RelayStore
        let active: ActiveConfiguration.Shared
        let fanOut: FanOut
        let sources: SourceRunner
        let versionCache: VersionCache
        let notifier: Notifier
        let maintenance: Maintenance
        let certificates: CertificateWatch
        let keeper: NodeKeeper?
        let api: APIServer
        /// The certificate in use.
        var identity: ServerIdentity?
    }

    /// Takes the configuration file as it is now, or nothing of it: a file that is not valid, or that the store refuses, is
    /// reported and changes nothing.
    private func reload(_ parts: inout Parts) -> ReloadRequests.Verdict {
        do {
            let (configuration, check) = try load()
            let identity = check.identity
            let new = try ActiveConfiguration(
                configuration, store: parts.store, environment: environment, tokenSources: tokenSources,
                log: log, clock: clock)
            let sources = try configuration.sourcePlan(environment: environment)
            // Steps that may still fail come first. The notifier is the last of them, because its changes to the store stay.
            let isNewIdentity = try identity.map { try parts.api.http.exchange(identity: $0) } ?? false
            do {
                try parts.notifier.start(new.notify)
            } catch {
                if isNewIdentity, let old = parts.identity { _ = try? parts.api.http.exchange(identity: old) }
                throw error
            }
            if isNewIdentity, let identity {
                parts.identity = identity
                log(
                    .notice, "another certificate is used from now on",
                    [
                        ("names", identity.names),
                        ("endsAt", Timestamp(seconds: identity.notAfter).internetSeconds),
                    ])
            }
            adopt(configuration.log)
            warn(of: check)
            parts.active.exchange(for: new)
            parts.fanOut.reroute(Array(new.routes.values))
            parts.certificates.take(new.routes, at: clock())
            parts.sources.reload(sources)
            parts.maintenance.reload(keep: .init(configuration.store))
            parts.versionCache.refresh()
            parts.keeper?.note(configuration: configuration.digest)
            log(.notice, "reloaded", [("apps", String(configuration.apps.count))])
            let needRestart = configuration.needRestart(from: parts.configuration)
            let warnings = needRestart.map { "what changed in \($0) needs a restart" } + lostStores(parts)
            for warning in warnings { log(.warning, "a reload does not do all", [("rest", warning)]) }
            return .taken(ReloadReport(apps: configuration.apps.count, warnings: warnings))
        } catch {
            log(.error, "not reloaded: the configuration stays as it was", [("error", "\(error)")])
            return .refused("\(error)")
        }
    }

    /// Warnings for requirements whose store is no longer configured. They go on waiting: only a person may release them.
    private func lostStores(_ parts: Parts) -> [String] {
        ((try? parts.store.versions()) ?? []).flatMap { record -> [String] in
            guard parts.sources.decidingStore(of: record.app) == nil else { return [] }
            let name = "\(record.app.app) \(record.app.platform.rawValue)"
            return (record.requirements.waiting + record.requirements.waiting(.blocked)).filter(\.isGated).map {
                "\($0.version) of \(name) waits for a store that is not in the configuration any more; put the source back, or "
                    + "\"upgrade-relay version release \(name)\""
            }
        }
    }

    private func adopt(_ log: LogConfiguration) {
        if !isLevelFixed { self.log.minimum = log.level }
        standardError.format = log.format
    }

    private static func fanOut(_ configuration: RelayConfiguration) -> FanOut.Configuration {
        var fanOut = FanOut.Configuration()
        fanOut.lanes = configuration.fanOut.lanes
        fanOut.limits.batchSize = configuration.fanOut.batch
        fanOut.largestShard = configuration.fanOut.shardSize
        return fanOut
    }
}

extension Maintenance.Keep {
    fileprivate init(_ store: StoreConfiguration) {
        self.init(deliveries: store.keep, audit: store.keepAudit)
    }
}

extension StoreConfiguration.Database {
    fileprivate var field: String {
        switch self {
        case .sqlite: "store.sqlite.path"
        case .postgres: "store.postgres"
        }
    }
}

extension RelayConfiguration {
    /// The keys in the file of settings that differ but are read only at the start.
    fileprivate func needRestart(from running: RelayConfiguration) -> [String] {
        let differences = [
            (store.database.field, store.database != running.store.database),
            ("listen", listen.needsRestart(from: running.listen)), ("fanOut", fanOut != running.fanOut),
            ("enforce.headers", enforce.headers != running.enforce.headers),
        ]
        return differences.filter(\.1).map(\.0)
    }
}
