// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Synchronization
import Threading
import UpgradeRules

/// What everybody who watches sees, as it was at one look at the store.
package struct Overview: Sendable {
    package struct App: Sendable {
        package var key: AppKey
        /// nil: nothing was ever stored for it.
        package var version: VersionStatus?
        /// The newest one that began, with its curve.
        package var adoption: CampaignAdoption?
        /// When that was read.
        var adoptionAt: Timestamp?
    }

    /// One thing that people follow, and when it last changed.
    struct Item: Sendable {
        var event: LiveEvent
        /// nil: everybody may see it.
        var app: AppKey?
        /// Of the look that found it changed.
        var revision: Int64
    }

    package var at: Timestamp
    package var revision: Int64 = 0
    /// In the order of their names.
    package var apps: [App] = []
    /// The newest first; those that are open all.
    package var campaigns: [CampaignStatus] = []
    package var faults: [ReadinessFault] = []
    package var warnings: [ReadinessFault] = []
    var items: [String: Item] = [:]
}

/// One look at the store a second, for all who watch together, and none where nobody does. Any thread may ask.
package final class LiveLook: Sendable {
    /// Milliseconds for which a look holds.
    static let interval: Int64 = 1000
    /// Closed campaigns that are looked at beside all that are open.
    static let closed = 50

    private struct State {
        var last: Overview?
        /// Milliseconds of the monotonic clock.
        var takenAt: Int64 = .min
        var isLooking = false
    }

    /// In the ids of its events, so that another process's are not taken for its own.
    let epoch = String(UInt32.random(in: 1...UInt32.max), radix: 36)
    private let state = Mutex(State())
    private let first = Mutex(())
    private let read: @Sendable (Overview?) throws -> Overview

    /// - Parameter read: makes the next one, from the last; waits for the store.
    init(read: @escaping @Sendable (Overview?) throws -> Overview) {
        self.read = read
    }

    /// A second old at most, or as old as the look that another thread is taking just now.
    package func overview() throws -> Overview {
        let now = MonotonicClock.milliseconds()
        let (last, isMine) = state.withLock { state -> (Overview?, Bool) in
            guard state.last == nil || now - state.takenAt >= Self.interval, !state.isLooking else {
                return (state.last, false)
            }
            state.isLooking = true
            return (state.last, true)
        }
        if !isMine {
            if let last { return last }
            // The first look of all is waited for.
            return try first.withLock { _ in try state.withLock { $0.last } ?? read(nil) }
        }
        return try first.withLock { _ in
            do {
                let next = try read(last)
                state.withLock { state in
                    (state.last, state.takenAt, state.isLooking) = (next, MonotonicClock.milliseconds(), false)
                }
                return next
            } catch {
                state.withLock { $0.isLooking = false }
                throw error
            }
        }
    }
}

extension API {
    /// What the watchers' next look finds.
    func look(after last: Overview?) throws -> Overview {
        var next = Overview(at: now())
        next.revision = (last?.revision ?? 0) + 1
        var records: [AppKey: VersionRecord?] = [:]
        for app in control.apps() { records[app] = .some(nil) }
        for record in try store.versions() { records[record.app] = record }
        let newest = try store.newestCampaigns()
        for (key, record) in records.sorted(by: { $0.key < $1.key }) {
            var app = Overview.App(key: key, version: record.map(control.requirements.status))
            try readAdoption(of: newest.first { $0.app == key }, into: &app, known: last, at: next.at)
            next.apps.append(app)
        }
        let open = try store.openCampaigns()
        let recent = try store.campaigns(before: nil, limit: LiveLook.closed).filter { record in
            !open.contains { $0.key == record.key }
        }
        next.campaigns = (open + recent).sorted { $0.key > $1.key }.map(control.requirements.status)
        next.faults = readinessCheck.faults(known: control.faults) { [self] in storeFault() }
        next.warnings = control.warnings()
        next.note(since: last)
        return next
    }

    /// The curve is read again where its campaign has changed, and now and then: a point of it is kept later than the number.
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
}
