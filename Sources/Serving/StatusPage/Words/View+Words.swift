// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// Words for states, reasons and figures.
extension View {
    func word(_ state: CampaignState) -> String {
        switch state {
        case .waiting: say("Waiting")
        case .running: say("Running")
        case .paused: say("Paused")
        case .suspended: say("Suspended")
        case .completed: say("Completed")
        case .cancelled: say("Cancelled")
        case .superseded: say("Superseded")
        }
    }

    func word(_ state: DeliveryState) -> String {
        switch state {
        case .pending: say("Pending")
        case .inFlight: say("In flight")
        case .accepted: say("Accepted")
        case .retrying: say("Retrying")
        case .rejected: say("Rejected")
        case .unregistered: say("Unregistered")
        case .expired: say("Expired")
        case .filtered: say("Filtered")
        case .cancelled: say("Cancelled")
        }
    }

    /// - Parameter isBlock: whether the requirement blocks a version, in place of setting a floor.
    func word(_ reason: FilterReason, isBlock: Bool = false) -> String {
        switch reason {
        case .alreadyCurrent where isBlock: say("Does not run it")
        case .noTelephone: say("No phone number is known")
        case .alreadyCurrent: say("Has the version already")
        case .notInAudience: say("Not among the users it is for")
        case .knownDead: say("The token is known to be dead")
        case .osTooOld: say("The phone's system is too old")
        }
    }

    func devices(_ number: Int64) -> String { language.count(number, "device", "devices") }

    func number(_ number: Int64) -> String { PageLanguage.number(number) }

    /// A share in percent, to a tenth; "100 %" only where all is done, "0 %" only where nothing is.
    func percent(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0 else { return "–" }
        var tenths = part * 1000 / whole
        if part > 0, tenths == 0 { tenths = 1 }
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// "3 min 20 s": two units at most.
    func duration(seconds: Int64) -> String {
        func text(_ count: Int64, _ unit: StaticString) -> String { "\(count) \(say(unit))" }
        switch seconds {
        case ..<60: return text(max(seconds, 0), "s")
        case ..<3600: return "\(text(seconds / 60, "min")) \(text(seconds % 60, "s"))"
        case ..<86_400: return "\(text(seconds / 3600, "h")) \(text(seconds / 60 % 60, "min"))"
        default: return "\(text(seconds / 86_400, "d")) \(text(seconds / 3600 % 24, "h"))"
        }
    }

    func name(_ key: AppKey) -> String { "\(key.app) \(key.platform == .ios ? "iOS" : "Android")" }

    /// A campaign's target as a sentence.
    func name(_ target: UpgradeTarget) -> String {
        target.isBlock ? say("% is blocked", target.version.text) : say("% is required", target.version.text)
    }

    /// A person's remedy for a campaign that does not move; nil where it moves, is over, or no act helps.
    func remedy(_ status: CampaignStatus) -> String? {
        status.wait?.kind.remedy.map { say($0, words(Rollout(status.record).next)) }
    }

    /// A sentence about what an act does, with the page's names of steps and acts.
    func words(_ effect: CampaignEffect) -> String {
        let sentence = effect.sentence
        return language.say(sentence.pattern, sentence.values.map(word))
    }

    private func word(_ value: CampaignEffect.Sentence.Value) -> String {
        switch value {
        case .text(let text): text
        case .devices(let count): devices(count)
        case .step(let step): words(step)
        case .end(let target): target.isBlock ? say("Unblock %", target.version.text) : say("Withdraw")
        }
    }

    /// A step of a rollout, for use in a sentence.
    func words(_ step: Rollout.Step?) -> String {
        switch step {
        case .share(let parts): say("% of the users", "\(WavePlan.percentText(parts)) %")
        case .canary(1): say("one named user")
        case .canary(let numbers): say("% named users", number(Int64(numbers)))
        case .everybody, nil: say("everybody")
        }
    }

    /// Whether there is trouble that a person must mend.
    func isInTrouble(_ status: CampaignStatus) -> Bool { status.standing == .trouble }

    /// The faults, without those about an app that the reader may not see.
    func seen(_ faults: [ReadinessFault]) -> [ReadinessFault] {
        guard caller.apps != nil else { return faults }
        let apps = Set(api.control.apps().map(\.app))
        return Self.faults(faults, of: apps) { caller.maySee($0) }
    }

    /// The faults that name no app that `isSeen` excludes. The name of one app may contain that of another: the longest is looked for first.
    static func faults(
        _ faults: [ReadinessFault], of apps: Set<String>, isSeen: (String) -> Bool
    ) -> [ReadinessFault] {
        let longestFirst = apps.sorted { $0.utf8.count > $1.utf8.count }
        return faults.filter { fault in
            var text = "\(fault.part) \(fault.reason)"
            for app in longestFirst where text.contains(app) {
                guard isSeen(app) else { return false }
                text = text.replacing(app, with: "\0")
            }
            return true
        }
    }
}
