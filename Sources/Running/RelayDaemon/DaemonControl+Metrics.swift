// SPDX-License-Identifier: Apache-2.0
import FanOut
import HTTP2
import Notifications
import PushProviders
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import Terminal
import UpgradeRules
import VersionSources

/// Writes the figures of all parts as the metrics of the catalogue.
extension DaemonControl {
    /// The figures that are read from the store.
    private struct Census {
        var store: StoreCensus
        var open: [CampaignRecord]
        var versions: [VersionRecord]
        /// The newest started campaign of each app.
        var newest: [CampaignRecord]
        var shares: [AppKey: VersionShares]
    }

    func writeMetrics(to text: inout MetricsText) {
        // Left out where the store cannot be read.
        let census = try? Census(
            store: store.census(), open: store.openCampaigns(), versions: store.versions(),
            newest: store.newestCampaigns(), shares: store.versionShares())
        let work = fanOut.work
        if let census {
            write(census, to: &text)
            write(census.versions, to: &text)
        }
        text.write(.certificateLeft, certificates.secondsLeft(at: clock()).map { (Self.labels($0.app), $0.seconds) })
        text.write(.watcherLook, work.lastLook.map(Self.seconds))
        writePushes(work, to: &text)
        writeConnections(to: &text)
        writeStore(to: &text)
        writeSources(to: &text)
        writeNotifications(census?.store.receivers ?? [], to: &text)
        writeRelays(to: &text)
        text.write(.buildInfo, [([CommandLineTool.version], 1)])
        let lines = log.lines
        text.write(.logLines, LogLevel.allCases.map { ([$0.name], Double(lines[$0] ?? 0)) })
        text.write(.reloadTaken, reloads.fault == nil ? 1 : 0)
        text.write(.configurationRead, Self.seconds(reloads.takenAt))
        ProcessMetrics.write(to: &text)
    }

    private static func labels(_ app: AppKey) -> [String] { [app.app, app.platform.rawValue] }

    private static func seconds(_ time: Timestamp) -> Double { Double(time.milliseconds) / 1000 }

    private static func sorted<Value>(_ values: [AppKey: Value]) -> [(key: AppKey, value: Value)] {
        values.sorted { $0.key < $1.key }
    }

    // MARK: Versions

    private func write(_ versions: [VersionRecord], to text: inout MetricsText) {
        text.write(
            .versionInfo,
            versions.map { record in
                let inForce = record.inForce
                let shown = [record.required, inForce.required, inForce.latest].map { $0?.text ?? "" }
                return (Self.labels(record.app) + shown, 1)
            })
        let waiting = versions.compactMap { record in
            record.requirements.waiting.isEmpty
                ? nil : record.updatedAt.map { (Self.labels(record.app), Self.seconds($0)) }
        }
        text.write(.requirementWaiting, waiting)
    }

    // MARK: Campaigns

    private func write(_ census: Census, to text: inout MetricsText) {
        let known = Set(apps() + census.store.devices.keys)
        let apps = known.sorted()
        text.write(
            .campaignsByState,
            apps.flatMap { app in
                CampaignState.allCases.map { state in
                    (
                        Self.labels(app) + [state.rawValue],
                        Double(census.store.campaigns[.init(app: app, state: state)] ?? 0)
                    )
                }
            })
        text.write(.devices, apps.map { (Self.labels($0), Double(census.store.devices[$0] ?? 0)) })
        let running = census.open.filter { $0.state == .running }
        let counts = running.map { record in
            var counts = fanOut.figures(of: record.key).counts(record.figures.counts)
            // Devices of later waves are left out, so that a pause between waves does not look like a standstill.
            counts.pending -= min(record.notYetBegun, counts.pending)
            return (record.app, counts)
        }
        func sum(_ count: (CampaignCounts) -> Int64) -> [([String], Double)] {
            apps.map { app in
                (Self.labels(app), counts.reduce(0) { $1.0 == app ? $0 + Double(count($1.1)) : $0 })
            }
        }
        text.write(.pending, sum(\.pending))
        writeHours(of: running, to: &text)
        text.write(.retriesWaiting, sum(\.retrying))
        let starts = Dictionary(
            running.map { ($0.app, $0.facts.startedAt ?? $0.facts.createdAt) }, uniquingKeysWith: min)
        text.write(.oldestCampaign, Self.sorted(starts).map { (Self.labels($0.key), Self.seconds($0.value)) })
        text.write(
            .pushesCancelled,
            apps.flatMap { app in
                [CampaignState.cancelled, .superseded].map { state in
                    (
                        Self.labels(app) + [state.rawValue],
                        Double(census.store.cancelled[.init(app: app, state: state)] ?? 0)
                    )
                }
            })
        let suspended = Set(
            census.open.filter { $0.state == .suspended && SuspensionReason.isOfCredential($0.facts.reason) }.map(\.app)
        )
        text.write(.credentialSuspended, apps.map { (Self.labels($0), suspended.contains($0) ? 1 : 0) })
        writeAdoption(of: census.newest, to: &text)
        writeVersions(census, to: &text)
    }

    /// At most one version of each app: clients decide how many versions there are, and each would be a time series.
    private func writeVersions(_ census: Census, to text: inout MetricsText) {
        let shares = Self.sorted(census.shares)
        text.write(.devicesSeen, shares.map { (Self.labels($0.key), Double($0.value.devices)) })
        let required = Dictionary(census.versions.map { ($0.app, $0.inForce.required) }) { first, _ in first }
        text.write(
            .devicesSeenBelow,
            shares.compactMap { app, shares in
                (required[app] ?? nil).map { (Self.labels(app), Double(shares.devices(below: $0))) }
            })
        text.write(
            .retirableVersion,
            shares.compactMap { app, shares in
                shares.newestBelow.map { (Self.labels(app) + [$0.version.text], 1) }
            })
    }

    /// By the clock of `RequirementControl`, so that it agrees with the status of the campaigns.
    private func writeHours(of running: [CampaignRecord], to text: inout MetricsText) {
        let openings = Self.sorted(control.openings())
        text.write(
            .outsideHours,
            openings.map { app, opening in
                (
                    Self.labels(app),
                    opening == nil ? 0 : Double(running.count { $0.app == app && !$0.isUrgent })
                )
            })
        text.write(
            .hoursOpen,
            openings.compactMap { app, opening in opening.map { (Self.labels(app), Self.seconds($0)) } })
    }

    private func writeAdoption(of campaigns: [CampaignRecord], to text: inout MetricsText) {
        text.write(.devicesToUpgrade, campaigns.map { (Self.labels($0.app), Double($0.toUpgrade)) })
        text.write(
            .devicesUpgraded,
            campaigns.flatMap { record in
                [
                    ("push", record.figures.reach.push), ("login", record.figures.reach.login),
                    ("both", record.figures.reach.both),
                    ("unknown", record.reachedUnknown),
                ].map { (Self.labels(record.app) + [$0.0], Double($0.1)) }
            })
        text.write(.devicesTold, campaigns.map { (Self.labels($0.app), Double($0.figures.reach.toldAtLogin)) })
    }

    // MARK: Pushes

    private func writePushes(_ work: FanOutFigures, to text: inout MetricsText) {
        // An app that is no longer configured keeps its counters until the process ends.
        var tallies = work.tallies
        for app in work.apps where tallies[app] == nil { tallies[app] = PushTally() }
        let all = Self.sorted(tallies)
        text.write(
            .outcomes,
            all.flatMap { app, tally in
                [
                    ("accepted", tally.accepted), ("rejected", tally.rejected), ("unregistered", tally.unregistered),
                    ("expired", tally.expired), ("filtered", tally.filtered),
                ].map { (Self.labels(app) + [$0.0], Double($0.1)) }
            })
        text.write(.rejections, Self.byReason(all, \.rejectedBy))
        text.write(.retries, Self.byReason(all, \.retriedBy))
        text.write(
            .filtered,
            all.flatMap { app, tally in
                FilterReason.allCases.map {
                    (Self.labels(app) + [$0.rawValue], Double(tally.filteredBy[$0] ?? 0))
                }
            })
        let apps = work.apps.sorted()
        text.write(.inFlight, apps.map { (Self.labels($0), Double(work.requestsOut[$0] ?? 0)) })
        let environments = apps.flatMap { app in
            fanOut.channels(of: app).map { (labels: Self.labels(app) + [$0.name], waits: $0.waits) }
        }
        text.write(.reachable, environments.map { ($0.labels, $0.waits.contains(.unreachable) ? 0 : 1) })
        text.write(.held, environments.map { ($0.labels, $0.waits.contains(.outage) ? 1 : 0) })
        text.write(
            .waits,
            environments.flatMap { labels, waits in
                SendingWait.Cause.allCases.map { (labels + [$0.rawValue], waits.contains($0) ? 1 : 0) }
            })
        text.write(.rateLimit, Self.sorted(work.rateLimits).map { (Self.labels($0.key), $0.value) })
        text.write(.tokensSigned, Double(tokenSources.signed))
    }

    private static func byReason(
        _ tallies: [(key: AppKey, value: PushTally)], _ counts: (PushTally) -> [String: Int]
    ) -> [(labels: [String], value: Double)] {
        tallies.flatMap { app, tally in
            counts(tally).sorted { $0.key < $1.key }.map { (labels(app) + [$0.key], Double($0.value)) }
        }
    }

    // MARK: Connections

    private func writeConnections(to text: inout MetricsText) {
        let lanes = fanOut.laneFigures.enumerated().map { (String($0.offset), $0.element) }
        func each(_ metric: Metric, _ value: (LaneFigures) -> Int) {
            text.write(metric, lanes.map { ([$0.0], Double(value($0.1))) })
        }
        each(.requestsSent, \.requestsSent)
        each(.resends, \.resends)
        each(.streams, \.requestsInFlight)
        each(.connectionsOpen, \.connectionsOpen)
        each(.dials, \.dials)
        each(.dialFailures, \.dialFailures)
        text.write(
            .retirements,
            lanes.flatMap { lane, figures in
                figures.retirementsByReason.map { ([lane, $0.reason], Double($0.count)) }
            })
        text.write(
            .goAways,
            lanes.flatMap { lane, figures in figures.goAwaysByCode.map { ([lane, $0.code], Double($0.count)) } })
        text.write(.latency, lanes.map { ([$0.0], $0.1.latency) })
    }

    // MARK: Store and sources

    private func writeStore(to text: inout MetricsText) {
        let figures = store.figures()
        text.write(.commits, [([], figures.commits)])
        text.write(.storeErrors, StoreError.Code.labels.map { ([$0], Double(figures.errors[$0] ?? 0)) })
        text.write(.databaseBytes, figures.databaseBytes.map(Double.init))
        text.write(.logBytes, figures.logBytes.map(Double.init))
        text.write(.freeBytes, figures.freeBytes.map(Double.init))
        text.write(.storeWentBack, store.membership.memory.hasFallen ? 1 : 0)
        text.write(.storeTaking, fanOut.faults()["store"] == nil ? 1 : 0)
    }

    private func writeSources(to text: inout MetricsText) {
        let sources = sources.figures().map { (Self.labels($0.app) + [$0.name], $0) }
        text.write(.sourceFailing, sources.map { ($0.0, $0.1.isFailing ? 1 : 0) })
        text.write(.sourceFailures, sources.map { ($0.0, Double($0.1.failures)) })
        text.write(
            .sourceSuccess,
            sources.compactMap { labels, figures in figures.lastSuccess.map { (labels, Self.seconds($0)) } })
    }

    // MARK: Several relays

    private func writeRelays(to text: inout MetricsText) {
        let membership = store.membership
        if membership.isAlone {
            text.write(.relaysAlive, 1)
        } else if let nodes = try? store.nodes() {
            text.write(.relaysAlive, Double(nodes.count { $0.state == .alive }))
        }
        text.write(.leads, membership.leads ? 1 : 0)
        text.write(.campaignsOwned, Double(fanOut.campaigns.count))
        text.write(.campaignsUnclaimed, (try? store.unclaimedCampaigns()).map { Double($0.count) })
        text.write(.fencings, Double(keeper?.fencings ?? 0))
        guard !membership.isAlone else { return }
        text.write(.leaseLeft, membership.untilDoubt.map(Self.seconds))
        text.write(.clockAhead, Self.seconds(membership.ahead))
    }

    private static func seconds(_ duration: Duration) -> Double { Double(duration.milliseconds) / 1000 }

    // MARK: Webhooks out

    private func writeNotifications(_ receivers: [StoreCensus.Receiver], to text: inout MetricsText) {
        text.write(
            .notificationAttempts,
            notifier.figures.attempts.sorted { $0.key < $1.key }.flatMap { receiver, counts in
                NotifierFigures.Result.allCases.map { ([receiver, $0.rawValue], Double(counts[$0] ?? 0)) }
            })
        let byHost = Dictionary(grouping: receivers) { NotifierFigures.label($0.url) }.sorted { $0.key < $1.key }
        text.write(.notificationsPending, byHost.map { ([$0.key], Double($0.value.reduce(0) { $0 + $1.pending })) })
        text.write(
            .oldestNotification,
            byHost.compactMap { host, some in some.compactMap(\.oldest).min().map { ([host], Self.seconds($0)) } })
        text.write(.receiverGone, byHost.map { ([$0.key], $0.value.contains(where: \.isGone) ? 1 : 0) })
    }
}
