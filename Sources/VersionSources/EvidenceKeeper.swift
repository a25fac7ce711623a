// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry
import UpgradeRules

/// Has the relay's store keep what the app stores said last, so that a restart forgets none of it. Used by the thread "sources".
struct EvidenceKeeper {
    /// A write waits two seconds for the lock that another program holds (`LockPatience`), and files and gates wait behind it: so not every
    /// few seconds. Nothing is lost meanwhile, for the process knows it; only a kill in just this time forgets it.
    private static let pause = Duration.seconds(30)

    private var tryAgain: Timestamp?

    /// - Returns: when to come again at the latest; nil: with the next thing that a store says.
    mutating func update(_ runner: SourceRunner) -> Timestamp? {
        let now = runner.clock()
        // A wall clock that was set back must not put it off.
        if let tryAgain, tryAgain > now, tryAgain <= now + Self.pause { return tryAgain }
        tryAgain = runner.keepEvidence() ? nil : now + Self.pause
        return tryAgain
    }
}

extension SourceRunner {
    private static let part = "evidence"

    /// Brings back what the stores said in an earlier life of the process, unless that was done.
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

    /// Takes what the relay was told that asks the stores for all, or did before this one.
    func takeUpEvidence() {
        status.forgetEvidence()
        recallEvidence()
    }

    /// Writes what has changed.
    ///
    /// - Returns: false where the relay's store refuses some of it, which is to be tried again.
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
                // Each of the others would meet it, too, and may wait for it.
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

    /// Said once in the log, and shown by `readyz` for as long as it lasts.
    private func report(_ what: String, _ error: any Error) {
        guard status.write({ $0.faults.set(Self.part, "\(what): \(error)") }) else { return }
        log(.error, "the store refuses what the app stores said: it is tried again", [("error", "\(error)")])
    }
}
