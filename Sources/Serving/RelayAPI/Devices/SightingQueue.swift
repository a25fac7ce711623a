// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import Requirements
import Synchronization
package import Threading
import UpgradeRules

/// Versions reported at login, on their way into the registry: gathered by device, stored each second or a thousand at a time by
/// one thread, so that no login waits for the disk. Sightings that the store refuses wait for the next second; sightings without
/// room are dropped and counted (the device reports them again at its next login).
package final class SightingQueue: Sendable {
    private struct Device: Hashable {
        var app: AppKey
        var token: String
    }

    private struct Seen {
        var version: Version
        var system: Version?
        var toldAtLogin: Int64?
        var at: Timestamp

        /// Takes the newer sighting. A system or a notice at login that only the older one has is kept: a device may come back with
        /// another version within the second.
        mutating func take(_ newer: Seen) {
            (version, at) = (newer.version, newer.at)
            system = newer.system ?? system
            toldAtLogin = newer.toldAtLogin ?? toldAtLogin
        }
    }

    private struct State {
        var waiting: [Device: Seen] = [:]
        /// The waiting devices, the longest wait first, so that the order and the batches do not depend on a hash.
        var order: [Device] = []
        var dropped: Int64 = 0
        var isRunning = false
        var isStopping = false

        /// Removes the devices that have waited longest.
        mutating func take(_ most: Int) -> [(device: Device, seen: Seen)] {
            let taken = order.prefix(most).compactMap { device in
                waiting.removeValue(forKey: device).map { (device, $0) }
            }
            order.removeFirst(min(most, order.count))
            return taken
        }

        /// Puts sightings that could not be stored back to the front. A sighting that was noted since then is newer.
        mutating func putBack(_ taken: [(device: Device, seen: Seen)], limit: Int) {
            var back: [Device] = []
            for (device, seen) in taken {
                if let newer = waiting[device] {
                    var merged = seen
                    merged.take(newer)
                    waiting[device] = merged
                } else if waiting.count < limit {
                    waiting[device] = seen
                    back.append(device)
                } else {
                    dropped += 1
                }
            }
            order.insert(contentsOf: back, at: 0)
        }
    }

    /// Devices in one transaction.
    private static let batch = 1000

    private let store: any SightingStore
    private let limit: Int
    private let clock: @Sendable () -> Timestamp
    private let state = Mutex(State())
    private let worker = Worker()

    /// - Parameter limit: the number of devices that may wait.
    package init(store: any SightingStore, limit: Int, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.limit = limit
        self.clock = clock
    }

    /// The number of sightings that were dropped for lack of room.
    package var dropped: Int64 { state.withLock { $0.dropped } }

    /// Takes a sighting; a later one of the same device replaces it. Never blocks for long.
    package func note(_ sighting: Sighting) {
        let device = Device(app: sighting.app, token: sighting.token)
        let now = clock()
        let isFull = state.withLock { state in
            guard !state.isStopping, state.waiting.count < limit || state.waiting[device] != nil else {
                state.dropped += 1
                return false
            }
            let seen = Seen(
                version: sighting.version, system: sighting.system, toldAtLogin: sighting.toldAtLogin,
                at: sighting.at ?? now)
            let isNew = state.waiting[device]?.take(seen) == nil
            if isNew {
                state.waiting[device] = seen
                state.order.append(device)
            }
            return isNew && state.waiting.count % Self.batch == 0
        }
        if isFull { worker.wake() }
    }

    /// Starts the thread that stores the sightings. Does nothing the second time.
    ///
    /// - Throws: where the system has no thread left.
    package func start() throws(SystemError) {
        let begins = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning && !state.isStopping
        }
        guard begins else { return }
        try worker.start("sightings") { [self] _ in
            flush()
            return .seconds(1)
        }
    }

    /// Stores the waiting sightings and ends the thread. May be called twice, or without a start.
    package func stop() {
        let waits = state.withLock { state in
            defer { state.isStopping = true }
            return state.isRunning && !state.isStopping
        }
        guard waits else { return }
        worker.stop()
        flush()
    }

    /// Stores the waiting sightings until none is left or the store refuses some.
    package func flush() {
        while true {
            let taken = state.withLock { $0.take(Self.batch) }
            guard !taken.isEmpty else { return }
            do {
                try store.sawVersions(
                    taken.map { device, seen in
                        Sighting(
                            app: device.app, token: device.token, version: seen.version, system: seen.system,
                            toldAtLogin: seen.toldAtLogin, at: seen.at)
                    }, at: clock())
            } catch {
                // The watcher and readyz report a store that refuses.
                state.withLock { $0.putBack(taken, limit: limit) }
                return
            }
        }
    }
}
