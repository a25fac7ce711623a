// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules

/// The state of one user in one app and platform, as the login check answers the user's device. Of several devices it shows one
/// (`isShownBefore`). Every part is a recorded fact; one that is not known is nil.
package struct UserSummary: Sendable {
    /// The raw values are on the wire.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// The device must upgrade, or is refused.
        case lockedOut
        /// The device's version is not known, so the login check decides by the version that the app sends.
        case unknownVersion
        /// The device may go on until a requirement has come into force, or has come to this user.
        case willBeAsked
        case mayGoOn
        /// The user is known by pushes or by a canary alone.
        case noDevice
        /// The app is not configured on this server.
        case notConfigured
    }

    /// The relation of the device to `target`.
    package enum Demand: Hashable, Sendable {
        /// It is in force for the user, whose device meets it or not.
        case required
        /// It is in force for the user, but the app has no download URL to send the user to.
        case requiredWithoutURL
        /// It has not come into force, or not to this user.
        case coming
        case announced
        /// It does not run on the device's system.
        case tooNew
    }

    package var app: AppKey
    package var state: State
    /// The requirement that the state is about: of a user who may go on, the one that the user meets or may put off; nil: there
    /// is none.
    package var target: UpgradeTarget?
    package var demand = Demand.required
    /// Since when `target` is in force for this user; nil: it is not, or the time is not recorded.
    package var since: Timestamp?
    /// When `target` comes into force by time alone; nil: it is in force, or that time is not known.
    package var from: Timestamp?
    /// The device's version; nil: not known.
    package var has: Version?
    /// The user's devices of this app and platform.
    package var devices = 0
    /// Those in this state.
    package var devicesAlike = 0
    /// The device's push of the newest campaign; nil: there is none.
    package var push: UserExplanation.Push?
    /// Whether the user can get the version; nil: the device needs none.
    package var offer: StoreOffer?

    package init(_ app: AppKey, _ state: State) {
        (self.app, self.state) = (app, state)
    }

    /// Whether the device is shown before another: one that gets pushes first, then the more urgent state, then the one that was
    /// registered later.
    static func isShownBefore(_ left: (UserSummary, DeviceRecord), _ right: (UserSummary, DeviceRecord)) -> Bool {
        let dead = (left.1.retiredAt != nil, right.1.retiredAt != nil)
        if dead.0 != dead.1 { return dead.1 }
        if left.0.state != right.0.state { return left.0.state.rank < right.0.state.rank }
        return left.1.registeredAt > right.1.registeredAt
    }
}

extension UserSummary.State {
    /// The most urgent first.
    fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// Summarises the devices of one user in one app and platform. Pure: the verdicts, waits and offers are passed in.
struct UserSummarizer {
    let record: VersionRecord
    let telephone: String
    let campaigns: [CampaignRecord]
    /// Why the highest requirement is not in force yet.
    let wait: RequirementWait?
    /// The rules of the login check.
    let rules: [UpgradeRule]
    /// The store's offer of a requirement to a user who is there.
    let offer: (Requirement, AudienceCountries) -> StoreOffer

    /// - Parameter devices: the user's devices of this app, each with the login check's answer; nil: the app is not configured.
    func summary(
        _ devices: [(record: DeviceRecord, answer: CheckAnswers.Answer?)], _ pushes: [UserExplanation.Push]
    ) -> UserSummary {
        let all = devices.map { (summary($0.record, $0.answer), $0.record) }
        guard let first = all.min(by: UserSummary.isShownBefore) else {
            var summary = UserSummary(record.app, .noDevice)
            summary.target = record.inForce.floor?.target
            summary.push = pushes.first
            return summary
        }
        var shown = first.0
        shown.devices = all.count
        shown.devicesAlike = all.count { $0.0.state == shown.state }
        shown.push = pushes.first { $0.delivery.device == first.1.id }
        return shown
    }

    private func summary(_ device: DeviceRecord, _ answer: CheckAnswers.Answer?) -> UserSummary {
        let registration = device.registration
        var summary = UserSummary(record.app, .notConfigured)
        summary.has = registration.version
        guard let answer else { return summary }
        summary.state = .mayGoOn
        switch answer.verdict {
        case .forced(let rule):
            if answer.prompt == .force { summary.state = .lockedOut } else { summary.demand = .requiredWithoutURL }
            put(rule, into: &summary, registration)
        case .ended(let rule):
            summary.state = .lockedOut
            put(rule, into: &summary, registration)
        case .unknown(let rule):
            summary.state = .unknownVersion
            put(rule, into: &summary, registration)
        case .announced, .none:
            if let row = coming(to: registration) {
                summary.state = registration.version == nil ? .unknownVersion : .willBeAsked
                (summary.target, summary.demand) = (row.target, .coming)
                summary.offer = offer(row, registration.audience)
                summary.from = row.id == record.requirements.required?.id ? wait?.end : nil
            } else if case .announced(let rule) = answer.verdict {
                put(rule, into: &summary, registration)
                summary.demand = .announced
            } else if case .none(.osTooOld) = answer.verdict, let rule = tooNew(for: registration) {
                put(rule, into: &summary, registration)
                summary.demand = .tooNew
            } else {
                summary.target = rules.first { $0.forces && !$0.isBlock && $0.reaches(registration.user) }?.target
            }
        }
        return summary
    }

    private func put(_ rule: UpgradeRule, into summary: inout UserSummary, _ device: DeviceRegistration) {
        summary.target = rule.target
        let row = record.requirements[rule.id]
        summary.since = row.flatMap(since)
        summary.offer =
            rule.runs(on: device.osVersion)
            ? row.map { offer($0, device.audience) } ?? StoreOffer(.unknown, "the requirement has changed a moment ago")
            : StoreOffer(
                .no,
                "it needs system version \(rule.minimumOS?.text ?? "-"), and this phone has \(device.osVersion?.text ?? "-")"
            )
    }

    /// The highest requirement that will concern the device when it has come into force, or has come to this user.
    private func coming(to device: DeviceRegistration) -> Requirement? {
        let requirements = record.requirements
        return requirements.rows.filter { row in
            let rule = row.rule
            return row.kind != .latest && row.isAccepted && !requirements.isSuperseded(row)
                && rule.target.concerns(device.version) && rule.runs(on: device.osVersion)
                && !(row.state == .inForce && rule.reaches(device.user))
        }.max { $0.version < $1.version }
    }

    /// The highest rule for the user whose version does not run on the device's system.
    private func tooNew(for device: DeviceRegistration) -> UpgradeRule? {
        rules.first {
            $0.target.concerns(device.version) && $0.reaches(device.user) && !$0.runs(on: device.osVersion)
        }
    }

    /// Since when a requirement is in force for the user. A wave has its own time, which the campaign has; the time of a canary
    /// is not kept once its requirement is for everybody.
    private func since(_ row: Requirement) -> Timestamp? {
        guard row.state == .inForce else { return nil }
        if row.names(telephone) { return row.isForEverybody ? nil : row.inForceAt }
        guard let stages = row.stages else { return row.isForEverybody ? row.inForceAt : nil }
        let wave = WaveDraw(stages, requirement: row.id).wave(of: telephone.utf8)
        let waves = campaigns.first { $0.requirement.id == row.id }?.figures.waves.list ?? []
        let begun = waves.first { $0.number == wave }?.begunAt
        return begun ?? (row.isForEverybody ? row.inForceAt : nil)
    }
}
