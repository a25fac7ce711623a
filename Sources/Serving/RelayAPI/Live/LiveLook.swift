// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
package import Requirements
import Synchronization
import Threading
import UpgradeRules

/// The state that all watchers see, from one look at the store.
package struct Overview: Sendable {
    package struct App: Sendable {
        package var key: AppKey
        /// nil: nothing was ever stored for it.
        package var version: VersionStatus?
        /// The newest campaign that began, with its curve.
        package var adoption: CampaignAdoption?
        /// When the adoption was read.
        var adoptionAt: Timestamp?
    }

    /// One thing that people follow, and when it last changed.
    struct Item: Sendable {
        var event: LiveEvent
        /// nil: everybody may see it.
        var app: AppKey?
        /// The revision of the look that found it changed.
        var revision: Int64
    }

    /// The beginning of a campaign that waits for a person, from the audit trail.
    package struct Origin: Hashable, Sendable {
        /// The name of the person or machine whose act began it.
        package var asker: String
        /// When the relay stopped it last; nil: it did not, or the trail no longer has it.
        package var suspendedAt: Timestamp?
        /// The state that this was read in.
        var state: CampaignState

        package init(asker: String, suspendedAt: Timestamp? = nil, state: CampaignState) {
            (self.asker, self.suspendedAt, self.state) = (asker, suspendedAt, state)
        }
    }

    package var at: Timestamp
    package var revision: Int64 = 0
    /// In the order of their names.
    package var apps: [App] = []
    /// The newest first: all that are open, and the latest of the others.
    package var campaigns: [CampaignStatus] = []
    /// The beginnings of the campaigns that wait for a person or are in trouble, by their public id.
    package var origins: [String: Origin] = [:]
    /// The acts that wait for a second person, newest first.
    package var approvals: [ShownApproval] = []
    /// The last counts of versions, a minute old at most.
    package var shares: [AppKey: VersionShares] = [:]
    var sharesAt: Timestamp?
    package var faults: [ReadinessFault] = []
    package var warnings: [ReadinessFault] = []
    var items: [String: Item] = [:]
}

/// Reads the store at most once a second for all watchers together, and not at all without a watcher. Any thread may ask.
package final class LiveLook: Sendable {
    /// Milliseconds for which a look is reused.
    static let interval: Int64 = 1000
    /// The age in milliseconds from which a look is no longer shown while the next one is taken.
    static let stale: Int64 = 2000
    /// The number of newest campaigns that a look reads in addition to all open ones.
    static let closed = 50

    /// A part of each event's id, so that ids of another process are not taken for its own.
    let epoch = String(UInt32.random(in: 1...UInt32.max), radix: 36)
    /// The last look, and when it was taken, in milliseconds of the monotonic clock.
    private let last = Mutex<(overview: Overview, takenAt: Int64)?>(nil)
    private let looking = Mutex(())
    /// Milliseconds that never go back.
    private let clock: @Sendable () -> Int64

    init(clock: @escaping @Sendable () -> Int64 = { MonotonicClock.milliseconds() }) { self.clock = clock }

    /// The last look, at most a second old, or, while another thread takes the next, the previous one, at most two seconds old.
    /// Waits for the next one where the previous is older: its figures are old.
    ///
    /// - Parameter read: makes the next look from the last; waits for the store.
    func overview(_ read: (Overview?) throws -> Overview) throws -> Overview {
        if let fresh { return fresh }
        if let taken = try looking.withLockIfAvailable({ _ in try take(read) }) { return taken }
        return try look(youngerThan: Self.stale) ?? looking.withLock { _ in try take(read) }
    }

    private var fresh: Overview? { look(youngerThan: Self.interval) }

    private func look(youngerThan age: Int64) -> Overview? {
        last.withLock { last in last.flatMap { clock() - $0.takenAt < age ? $0.overview : nil } }
    }

    private func take(_ read: (Overview?) throws -> Overview) throws -> Overview {
        // Another thread may have taken a look while this one waited for the lock.
        if let fresh { return fresh }
        let next = try read(last.withLock { $0?.overview })
        last.withLock { $0 = (next, clock()) }
        return next
    }
}

extension API {
    /// The look that all watchers share.
    package func overview() throws -> Overview { try live.overview(look) }

    /// Takes the watchers' next look.
    private func look(after last: Overview?) throws -> Overview {
        var next = Overview(at: now())
        next.revision = (last?.revision ?? 0) + 1
        let newest = try store.newestCampaigns()
        for (key, version) in try versions() {
            var app = Overview.App(key: key, version: version)
            try readAdoption(of: newest.first { $0.app == key }, into: &app, known: last, at: next.at)
            next.apps.append(app)
        }
        let open = try store.openCampaigns()
        let recent = try store.campaigns(before: nil, limit: LiveLook.closed).filter { record in
            !open.contains { $0.key == record.key }
        }
        next.campaigns = try (open + recent).sorted { $0.key > $1.key }.map(control.requirements.status)
        for status in next.campaigns where status.standing == .person || status.standing == .trouble {
            next.origins[status.record.id] = try origin(of: status.record, known: last)
        }
        try readShares(into: &next, known: last)
        next.approvals = try openApprovals(of: nil)
        next.faults = readinessCheck.faults(known: control.faults) { [self] in storeFault() }
        next.warnings = control.warnings()
        next.note(since: last)
        return next
    }

    /// Reads the curve again where its campaign has changed, and every ten seconds: its points are stored later than the count.
    private func readAdoption(
        of record: CampaignRecord?, into app: inout Overview.App, known last: Overview?, at now: Timestamp
    ) throws {
        guard let record else { return }
        if let known = last?.apps.first(where: { $0.adoption?.record == record }), let readAt = known.adoptionAt,
            readAt <= now, now < readAt + .seconds(10)
        {
            (app.adoption, app.adoptionAt) = (known.adoption, readAt)
        } else {
            (app.adoption, app.adoptionAt) = (try store.adoption(of: record.key), now)
        }
    }

    /// Reads who began a campaign and when it was stopped, unless the last look has it.
    private func origin(of record: CampaignRecord, known last: Overview?) throws -> Overview.Origin {
        if let known = last?.origins[record.id], known.state == record.state { return known }
        func entries(_ action: AuditAction, limit: Int) throws -> [AuditEntry] {
            var filter = AuditFilter()
            (filter.campaign, filter.action) = (record.id, action)
            return try store.audit(filter, before: nil, limit: limit)
        }
        // Later requests for the same version may have changed its texts: the first one began it.
        let action: AuditAction = record.requirement.kind == .blocked ? .versionBlock : .versionBump
        let asker = try entries(action, limit: 50).last?.actor.name
        return Overview.Origin(
            asker: asker ?? record.requirement.changed.by,
            suspendedAt: try record.state == .suspended ? entries(.campaignSuspend, limit: 1).first?.at : nil,
            state: record.state)
    }

    /// The counts change once an hour, so they are read once a minute.
    private func readShares(into next: inout Overview, known last: Overview?) throws {
        if let last, let readAt = last.sharesAt, readAt <= next.at, next.at < readAt + .seconds(60) {
            (next.shares, next.sharesAt) = (last.shares, readAt)
        } else {
            (next.shares, next.sharesAt) = (try store.versionShares(), next.at)
        }
    }
}
