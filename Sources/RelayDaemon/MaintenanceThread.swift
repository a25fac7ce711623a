// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Telemetry
import Threading

/// Gives `Maintenance` its turns, on a thread of its own.
final class MaintenanceThread: Sendable {
    private let maintenance: Maintenance
    private let worker = Worker()

    init(
        store: any RelayStore, log: Log, certificates: CertificateWatch? = nil,
        clock: @escaping @Sendable () -> Timestamp, troubles: (@Sendable () -> [ReadinessFault])? = nil,
        notify: @escaping @Sendable (RelayEvent) -> Void = { _ in }
    ) {
        maintenance = Maintenance(
            store: store, log: log, certificates: certificates, clock: clock, troubles: troubles, notify: notify)
    }

    /// Begins, with the first look and the first pruning at once. Call once.
    ///
    /// - Parameter keep: how much of the past; with nil nothing is ever pruned.
    /// - Throws: where the system has no thread left.
    func start(keep: Duration?) throws {
        maintenance.reload(keep: keep)
        try worker.start("maintenance") { [maintenance] in maintenance.turn(isMinuteOver: $0) }
    }

    /// Goes on with another time, at once; refuses nothing, so that a reload may count on it.
    func reload(keep: Duration?) {
        maintenance.reload(keep: keep)
        worker.wake()
    }

    /// Asks the thread to end and does not wait for it.
    func askToStop() {
        maintenance.askToStop()
        worker.askToStop()
    }

    /// Returns when the thread has ended, after the transaction that it is in.
    func stop() {
        askToStop()
        worker.stop()
    }
}
