// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore
import UpgradeRules

/// A campaign while it is being sent: its machine, its breaker, and what the status tells beyond the ledger.
///
/// Belongs to the fan-out's thread.
final class CampaignRun {
    let record: CampaignRecord
    let route: AppRoute
    let filter: AudienceFilter
    let payload: UpgradePayload
    var machine: CampaignMachine
    var breaker: CredentialBreaker
    /// What was refused while the breaker has not judged yet.
    var suspects = Suspects()
    /// How often in a row the service wanted a new connection and then took nothing on it either.
    var reconnects = 0
    /// Flights before this one left before the last of these connections was made.
    var firstTagOnNewConnection = 0
    var pushes: RateMeter
    var devices = RateMeter()
    private(set) var waves: CampaignWaves
    /// Which device is in which wave; nil where the campaign has none.
    let draw: WaveDraw?
    /// Devices that had to be read for each push of late: how far ahead to read for a few.
    private(set) var devicesPerPush = 1.0
    /// Nothing is sent before this moment (TooManyProviderTokenUpdates).
    var pausedUntil: Timestamp?
    /// Why, as the status shows it.
    var pauseReason: String?
    /// Requests on their way, from shards and from retries.
    var shardRequestsOut = 0
    var retryRequestsOut = 0
    private var templates: (made: RouteTemplates, until: Timestamp)?

    init(record: CampaignRecord, route: AppRoute, limits: CampaignMachine.Limits, nextRetry: Timestamp?) {
        self.record = record
        self.route = route
        filter = AudienceFilter(required: record.required, telephones: record.telephones)
        payload = route.payload(message: record.message, downloadURL: record.downloadURL)
        waves = record.waves
        draw = record.draw
        pushes = RateMeter(pace: route.pace?.ratePerSecond)
        machine = CampaignMachine(limits: limits, nextRetry: nextRetry, hasMoreWaves: record.waves.next != nil)
        breaker = CredentialBreaker(delivered: record.counts.accepted)
    }

    /// The request templates with a provider token that is fit for use, made anew every minute at most.
    func templates(at now: Timestamp) throws -> RouteTemplates {
        if let templates, now < templates.until { return templates.made }
        let made = try RouteTemplates(
            production: template(for: .production, at: now), sandbox: template(for: .sandbox, at: now))
        templates = (made, now + .seconds(60))
        return made
    }

    private func template(for environment: PushEnvironment, at now: Timestamp) throws -> APNsProvider.Template {
        try route.provider.template(
            payload: payload, authority: route.pool(for: environment).origin.authority, expiresAt: record.expiresAt,
            at: now)
    }

    func forgetTemplates() {
        templates = nil
    }

    func remedy(for environment: PushEnvironment, at now: Timestamp) -> APNsRemedy {
        APNsRemedy(
            app: record.app.app, section: route.section, server: route.pool(for: environment).origin.description,
            campaign: record.id, now: now)
    }

    func isPaused(at now: Timestamp) -> Bool { pausedUntil.map { now < $0 } ?? false }

    func take(_ waves: CampaignWaves) {
        self.waves = waves
    }

    /// One wave's devices of a shard; nil: all.
    func slice(_ shard: CampaignMachine.ShardRange) -> WaveSlice? {
        draw.map { WaveSlice($0, number: shard.wave) }
    }

    // MARK: Reading ahead

    /// How many devices to read for so many pushes, when some are filtered; at least 1, at most `limit`.
    func devices(for pushes: Int, limit: Int) -> Int {
        guard pushes < limit else { return limit }
        return min(limit, max(1, Int((Double(pushes) * devicesPerPush * 1.25).rounded(.up))))
    }

    func noteRead(_ devices: Int, pushes: Int) {
        guard devices > 0 else { return }
        // Where all were filtered, twice as many are read next.
        let share = pushes > 0 ? Double(devices) / Double(pushes) : max(Double(devices), devicesPerPush) * 2
        devicesPerPush = pushes > 0 ? (devicesPerPush + share) / 2 : min(share, 10_000)
    }

    func add(requests: Int, source: Flight.Source) {
        switch source {
        case .shard: shardRequestsOut += requests
        case .retries: retryRequestsOut += requests
        }
    }

    var figures: RunFigures {
        RunFigures(
            shardRequestsOut: shardRequestsOut, retryRequestsOut: retryRequestsOut, pushes: pushes, devices: devices)
    }
}

/// A campaign's request templates for both of the service's worlds, with the provider token of one moment.
struct RouteTemplates {
    var production: APNsProvider.Template
    var sandbox: APNsProvider.Template

    subscript(environment: PushEnvironment) -> APNsProvider.Template {
        switch environment {
        case .production: production
        case .sandbox: sandbox
        }
    }
}
