// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// An outcome that a packed batch of the ledger can keep: its kind and its device are all its data.
///
/// The raw values are stored, so they may never change; three bits hold them.
package enum PlainOutcome: UInt8, CaseIterable, Sendable {
    /// At the first attempt.
    case accepted = 0
    case noTelephone = 1
    case alreadyCurrent = 2
    case notInAudience = 3
    case knownDead = 4
    case osTooOld = 5

    /// nil where the ledger needs a row.
    package init?(_ outcome: LedgerRule.Outcome) {
        guard !outcome.isScheduled else { return nil }
        switch outcome.state {
        case .accepted where outcome.attempts == 1 && outcome.reason == nil: self = .accepted
        case .filtered where outcome.attempts == 0:
            switch outcome.reason.flatMap(FilterReason.init) {
            case .noTelephone: self = .noTelephone
            case .alreadyCurrent: self = .alreadyCurrent
            case .notInAudience: self = .notInAudience
            case .knownDead: self = .knownDead
            case .osTooOld: self = .osTooOld
            case nil: return nil
            }
        default: return nil
        }
    }

    package var state: DeliveryState { self == .accepted ? .accepted : .filtered }

    package var attempts: Int { self == .accepted ? 1 : 0 }

    package var reason: FilterReason? {
        switch self {
        case .accepted: nil
        case .noTelephone: .noTelephone
        case .alreadyCurrent: .alreadyCurrent
        case .notInAudience: .notInAudience
        case .knownDead: .knownDead
        case .osTooOld: .osTooOld
        }
    }
}
