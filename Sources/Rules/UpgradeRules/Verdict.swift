// SPDX-License-Identifier: Apache-2.0

/// The verdict on a user of an app who has a version of it, with the reason: pushes, the login check, `/v1/enforce`, the
/// launch document, `plan` and `users explain` all go by it. It does not depend on a clock, so the channels agree even where
/// their clocks differ.
///
/// The first row that holds decides, among the rules that reach the user:
///
/// | condition | verdict | push | login | enforce |
/// |---|---|---|---|---|
/// | the version is unknown, and a floor runs on the system | `unknown`, the highest floor | sent | nothing | as `enforce.unknown` sets |
/// | below a floor that runs on the system | `forced`, the highest of them | sent | must upgrade | 426 |
/// | a version that is blocked, and one above it runs on the system | `forced`, the block | sent | must upgrade | 426 |
/// | one of these two, but the version does not run there, and service ends | `ended`, the highest | filtered | refused, no link | 426 |
/// | below an announced version that runs on the system | `announced`, the highest | none | may upgrade | passes |
/// | else | `none`, the reason | filtered | nothing | passes |
///
/// Floors that a higher one has superseded still count: a phone that is too old for 3.0 must still have 2.0, which the store
/// gives it.
///
/// A campaign pushes by its own rule alone, so a user who is pushed to is forced on the other channels too. A prompt needs a
/// download URL as well.
package enum Verdict: Hashable, Sendable {
    /// The version is unknown, so it may be below this floor.
    case unknown(UpgradeRule)
    /// The version is below this floor, or is the blocked one.
    case forced(UpgradeRule)
    /// The same, but the phone can never have the version that is asked for; the service ends for it.
    case ended(UpgradeRule)
    case announced(UpgradeRule)
    case none(Reason)

    /// Why no rule holds for a user.
    package enum Reason: String, Hashable, Sendable {
        /// No rule is in force or announced.
        case nothing
        /// The version meets every rule for this user.
        case current
        /// It is below a floor that has not reached this user.
        case notReached
        /// It is below a version that does not run on this user's system.
        case osTooOld
        /// The version is unknown, and no floor is for this user.
        case versionUnknown
    }

    /// - Parameters:
    ///   - rules: in the order of `UpgradeTarget.isJudgedBefore`.
    ///   - version: nil: unknown.
    ///   - endsOlderSystems: whether a user whose system is too old for a floor, and who has no other floor, is refused; false: such a
    ///     floor does not count.
    package init(
        _ rules: [UpgradeRule], version: Version?, user: UpgradeRule.User = .nobody, endsOlderSystems: Bool = false
    ) {
        var newest: UpgradeRule?
        var ending: UpgradeRule?
        var (isPassedOver, isTooOld) = (false, false)
        for rule in rules {
            if let version, version > rule.version { break }
            guard rule.target.concerns(version) else { continue }
            guard rule.reaches(user) else {
                isPassedOver = true
                continue
            }
            guard rule.runs(on: user.system) else {
                isTooOld = true
                if rule.forces, endsOlderSystems { ending = ending ?? rule }
                continue
            }
            if rule.forces {
                self = version == nil ? .unknown(rule) : .forced(rule)
                return
            }
            newest = newest ?? rule
        }
        if let ending, version != nil {
            self = .ended(ending)
        } else if let newest, version != nil {
            self = .announced(newest)
        } else {
            let reason: Reason =
                if rules.isEmpty {
                    .nothing
                } else if isTooOld {
                    .osTooOld
                } else if isPassedOver {
                    .notReached
                } else {
                    version == nil ? .versionUnknown : .current
                }
            self = .none(reason)
        }
    }

    /// The prompt of the app, if it knows the new version's address. An unknown version fails open: a wrong verdict would lock a
    /// current user out at every login.
    package var prompt: UpgradeVerdict {
        switch self {
        case .forced: .force
        case .announced: .remind
        case .unknown, .ended, .none: .none
        }
    }

    /// Whether a campaign whose rule was judged sends its push: unknown means sent, because the registry may have been imported without
    /// versions, and an app that was never seen is likelier old than new.
    package var isPushed: Bool {
        switch self {
        case .unknown, .forced: true
        case .ended, .announced, .none: false
        }
    }
}
