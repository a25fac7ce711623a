// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry

/// The store's refusals, as sending meets them: a fault is logged when it begins, when its kind changes and when it ends, not at each
/// try.
struct StoreTrouble {
    private static let (sending, watching) = ("store", "watcher")

    /// How long nothing is read after a refusal: a push must not be sent that cannot be recorded.
    let rest: Duration
    let log: Log
    private(set) var restsUntil: MonotonicTime?
    /// The kind of the present or last fault.
    private var kind: StoreError.Code?

    init(rest: Duration, log: Log) { (self.rest, self.log) = (rest, log) }

    func rests(at now: MonotonicTime) -> Bool { restsUntil.map { now < $0 } ?? false }

    /// The fault that keeps campaigns waiting; nil: none.
    func text(in faults: FaultLog) -> String? { faults.text(Self.sending) }

    /// Ends the rest: the daemon stops, and tries once more.
    mutating func endRest() { restsUntil = nil }

    /// Notes that the store refused something that sending needs.
    mutating func note(_ error: any Error, _ faults: inout FaultLog, at now: MonotonicTime) {
        restsUntil = now + rest
        let kind = (error as? StoreError)?.code ?? .failed
        let isNew = faults.set(Self.sending, "\(error)")
        if isNew || kind != self.kind { log(.error, "the store refuses", [("error", "\(error)")]) }
        self.kind = kind
    }

    /// Ends the fault after a whole round without a refusal, if the store can be written to. That is checked because a round may have had
    /// nothing to write.
    mutating func lookForEnd(in store: any RelayStore, _ faults: inout FaultLog, at now: MonotonicTime) {
        guard !rests(at: now) else { return }
        do {
            try store.checkWritable()
            _ = faults.clear(Self.sending)
            log(.notice, "the store takes outcomes again")
        } catch {
            note(error, &faults, at: now)
        }
    }

    /// Notes that the store cannot be looked at, or can again. It may take outcomes all the same, so this is a fault of its own.
    func noteLook(_ error: (any Error)?, _ faults: inout FaultLog) {
        guard let error else {
            if faults.clear(Self.watching) { log(.notice, "the store can be watched again") }
            return
        }
        if faults.set(Self.watching, "\(error)") { log(.error, "the store cannot be watched", [("error", "\(error)")]) }
    }
}
