// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
import WireFormat

/// Decides the next step of one app's lookup: it asks by each key, believes the newer answer, and waits. Pure.
package struct LookupMachine: PollMachine, Hashable {
    private let source: AppStoreSource
    private var schedule: PollSchedule
    /// How many keys of this round were answered.
    private var asked = 0
    private var best: StoreListing?
    private var fault: SourceFault?

    package init(source: AppStoreSource, start: Timestamp) {
        self.source = source
        schedule = PollSchedule(every: source.every, start: start)
    }

    package func next(at now: Timestamp) -> PollStep<LookupKey> {
        let keys = source.keys
        return asked < keys.count ? schedule.next(keys[asked], at: now) : .wait(until: schedule.due(at: now))
    }

    /// Lets the next round begin at once, as far as a pause that the store asked for allows.
    package mutating func hasten(at now: Timestamp) { schedule.hasten(to: now) }

    /// Takes the answer for the key that was due.
    ///
    /// - Parameter known: the newest version that the store has shown before: an older one is a stale copy.
    /// - Returns: the round's outcome, with a nil listing where the store does not list the app in this storefront; nil
    ///   while there are more keys to ask for.
    package mutating func answered(
        _ answer: Result<AppStoreEntry?, SourceFault>, known: Version?, at now: Timestamp
    ) -> Result<StoreListing?, SourceFault>? {
        let keys = source.keys
        guard asked < keys.count else { return nil }
        switch answer {
        case .success(let entry?):
            if let other = mismatch(entry) {
                fault = fault ?? other
            } else if best.map({ $0.version < entry.listing.version }) ?? true {
                best = entry.listing
            }
        case .success(nil):
            break
        case .failure(let failure):
            fault = fault ?? failure
            // A store that was asked too often is not asked with the next key.
            if failure.isThrottled { asked = keys.count - 1 }
        }
        asked += 1
        guard asked == keys.count else { return nil }
        return conclude(known: known, at: now)
    }

    private mutating func conclude(known: Version?, at now: Timestamp) -> Result<StoreListing?, SourceFault> {
        defer { (asked, best, fault) = (0, nil, nil) }
        if let best {
            if let known, best.version < known {
                let stale = SourceFault(
                    "the App Store shows \(best.version), older than \(known), which it showed before")
                schedule.failed(stale, at: now)
                return .failure(stale)
            }
            // One key's answer is enough, but a throttled one still counts.
            if let fault, fault.isThrottled { schedule.failed(fault, at: now) } else { schedule.succeeded(at: now) }
            return .success(best)
        }
        guard let fault else {
            schedule.succeeded(at: now)
            return .success(nil)
        }
        schedule.failed(fault, at: now)
        return .failure(fault)
    }

    private func mismatch(_ entry: AppStoreEntry) -> SourceFault? {
        let bundle = source.bundleID.flatMap { wanted in
            AnswerField.lookupBundle.fault(entry.bundleID.map(JSONValue.string), wanted: [wanted])
        }
        let track = source.trackID.flatMap { wanted in
            AnswerField.lookupTrack.fault(entry.trackID.map(JSONValue.integer), wanted: [String(wanted)])
        }
        return (bundle ?? track).map { SourceFault($0) }
    }
}
