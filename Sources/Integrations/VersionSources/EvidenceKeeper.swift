// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

/// Writes the app stores' latest answers to the relay's store, so that they survive a restart. Used by the thread "sources".
struct EvidenceKeeper {
    /// A write may wait two seconds for another program's lock (`LockPatience`) and holds up files and gates, so it is
    /// not tried every few seconds. The process keeps the answers until then; only a kill in that time loses them.
    private static let pause = Duration.seconds(30)

    private var tryAgain: Timestamp?

    /// - Returns: when to call again at the latest; nil: after the next answer of a store.
    mutating func update(_ runner: SourceRunner) -> Timestamp? {
        let now = runner.clock()
        // A wall clock that was set back must not delay it.
        if let tryAgain, tryAgain > now, tryAgain <= now + Self.pause { return tryAgain }
        tryAgain = runner.keepEvidence() ? nil : now + Self.pause
        return tryAgain
    }
}

extension SourceRunner {
    private static let part = "evidence"

    /// Restores the stores' answers from before the start, unless that was done.
    ///
    /// - Returns: false where the relay's store refuses.
    @discardableResult
    func recallEvidence() -> Bool {
        guard status.read({ !$0.book.isRead }) else { return true }
        do {
            let rows = try store.evidence()
            for (row, fault) in status.recall(rows) {
                log(
                    .warning, "what an app store said cannot be read from the relay's store: it is asked anew",
                    [
                        ("app", row.key.app.app), ("platform", row.key.app.platform.rawValue),
                        ("source", row.key.kind.rawValue), ("reason", fault.reason),
                    ])
            }
            return true
        } catch {
            report("what the app stores said before the start cannot be read", error)
            return false
        }
    }

    /// Reads the evidence anew: the relay that asks the stores, or did so before this one, has written it.
    func takeUpEvidence() {
        status.forgetEvidence()
        recallEvidence()
    }

    /// Writes what has changed.
    ///
    /// - Returns: false where the relay's store refuses some of the changes, which are tried again.
    func keepEvidence() -> Bool {
        guard recallEvidence() else { return false }
        var refusal: (any Error)?
        var errands = status.errands()[...]
        while let errand = errands.popFirst() {
            do {
                switch errand {
                case .keep(let evidence): try store.keepEvidence(evidence)
                case .forget(let key): try store.forgetEvidence(key)
                }
                status.write { $0.book.done(errand) }
            } catch {
                refusal = error
                status.write { $0.book.failed(errand) }
                guard (error as? StoreError)?.isOfWholeStore ?? false else { continue }
                // The other changes would fail too, and each might wait for the store.
                status.write { state in
                    for errand in errands { state.book.failed(errand) }
                }
                errands = []
            }
        }
        if let refusal {
            report("what the app stores said cannot be kept", refusal)
            return false
        }
        if status.write({ $0.faults.clear(Self.part) }) {
            log(.notice, "the store keeps again what the app stores say", [])
        }
        return true
    }

    /// Logs the refusal once; `readyz` shows it for as long as it lasts.
    private func report(_ what: String, _ error: any Error) {
        guard status.write({ $0.faults.set(Self.part, "\(what): \(error)") }) else { return }
        log(.error, "the store refuses what the app stores said: it is tried again", [("error", "\(error)")])
    }
}
