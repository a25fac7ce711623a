// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Telemetry
import Threading
import WireFormat

/// Checks each second whether the store went back in time, and notes its position outside of it.
///
/// The note is written after the change in the store, so it is never ahead of the store, and a crash between the two raises
/// no alarm.
final class RollbackWatch: Sendable {
    private static let interval = Duration.seconds(1)
    /// The shortest time between two notes that differ only in the number of records, because a campaign makes many records.
    private static let noteInterval = Duration.seconds(5)

    private struct State {
        var written: StoreMark?
        var writtenAt: MonotonicTime?
        var faults = FaultLog()
        /// Notifies the receivers; nil: not possible yet.
        var notify: (@Sendable (RelayEvent) -> Void)?
        /// Whether the receivers were notified of a rollback that is not over.
        var isNotified = false
    }

    private let store: any RelayStore
    private let note: PastNote?
    private let log: Log
    private let clock: @Sendable () -> Timestamp
    private let worker = Worker()
    private let state = Mutex(State())

    /// - Parameter path: the place of the note; nil: the position is forgotten when the process ends.
    init(store: any RelayStore, notedAt path: String?, log: Log, clock: @escaping @Sendable () -> Timestamp) {
        (self.store, note, self.log, self.clock) = (store, path.map(PastNote.init), log, clock)
    }

    /// Compares the store with the note. Call once, before any decision that relies on the store.
    func begin() {
        let memory = store.membership.memory
        memory.onFall { [weak self, log] fall in
            log(
                .error, "the store went back in time: nothing is sent, and nothing is decided",
                [("error", "\(fall.error)")])
            self?.report(fall)
        }
        let known = note?.read()
        state.withLock { $0.written = known }
        if let known { memory.note(known) }
        look()
    }

    /// Notifies receivers of each rollback, including one found earlier, and of its end. Never through the store's outbox,
    /// because nothing is written to a store that went back.
    ///
    /// - Parameter notify: must not wait.
    func notify(by notify: @escaping @Sendable (RelayEvent) -> Void) {
        state.withLock { $0.notify = notify }
        if let fall = store.membership.memory.fall { report(fall) }
    }

    private func report(_ fall: StoreRollback) {
        let notify = state.withLock { state in
            guard !state.isNotified, let notify = state.notify else { return nil as (@Sendable (RelayEvent) -> Void)? }
            state.isNotified = true
            return notify
        }
        notify?(event(.wentBack, "\(fall.error)"))
    }

    private func notifyOfTheEnd() {
        let notify = state.withLock { state in
            defer { state.isNotified = false }
            return state.isNotified ? state.notify : nil
        }
        notify?(event(.recovered, ""))
    }

    private func event(_ type: EventType, _ reason: String) -> RelayEvent {
        RelayEvent(
            id: Hex.encode((0..<16).map { _ in .random(in: .min ... .max) }), type: type, at: clock(),
            subject: .part(ReadinessFault.past, reason: reason))
    }

    /// - Throws: where the system has no thread left.
    func start() throws {
        try worker.start("past") { [self] _ in
            look()
            return Self.interval
        }
    }

    /// Returns when the thread has ended and the position is noted.
    func stop() {
        worker.stop()
        keep(isLast: true)
    }

    func look() {
        // Even if the store cannot be read or went back: the position seen before was real.
        defer { keep(isLast: false) }
        do {
            try store.lookBack()
            state.withLock { _ = $0.faults.clear("look") }
            notifyOfTheEnd()
        } catch let error as StoreError where error.code == .wentBack {
            return
        } catch {
            // Only a warning, because sending meets the same error.
            if state.withLock({ $0.faults.set("look", "\(error)") }) {
                log(.warning, "it is not known whether the store went back in time", [("error", "\(error)")])
            }
        }
    }

    private func keep(isLast: Bool) {
        let memory = store.membership.memory
        guard let note, let seen = memory.seen else { return }
        let now = MonotonicClock.now()
        let isDue = state.withLock { state in
            guard let written = state.written else { return true }
            if seen == written { return false }
            let isDecision = (seen.identity, seen.decision) != (written.identity, written.decision)
            return isLast || isDecision || state.writtenAt.map { now - $0 >= Self.noteInterval } ?? true
        }
        guard isDue else { return }
        do {
            try note.write(seen)
            state.withLock { state in
                (state.written, state.writtenAt) = (seen, now)
                _ = state.faults.clear("note")
            }
        } catch {
            if state.withLock({ $0.faults.set("note", "\(error)") }) {
                log(
                    .warning,
                    "the note beside the store cannot be written: after a restart the relay would not notice an older copy",
                    [("file", note.path), ("error", "\(error)")])
            }
        }
    }
}
