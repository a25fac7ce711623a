// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// An event in a few lines for people: the subject, the event and the next step.
enum NotificationText {
    static func text(of event: RelayEvent) -> String {
        switch event.subject {
        case .campaign(let campaign):
            let subject = "*\(campaign.app.app) \(campaign.app.platform.rawValue) \(campaign.requirement.version)*"
            return "\(subject) \(sentence(event.type, campaign))"
                + command(event.type, campaign).map { "\n\($0)" }.joined()
        case .dead(let app, let devices, _):
            // The tokens themselves are of no use to people or to a chat.
            let tokens = devices.count == 1 ? "token was" : "tokens were"
            return "*\(app.app) \(app.platform.rawValue)* \(devices.count) \(tokens) called dead"
                + "\n`GET /v1/apps/\(app.app)/\(app.platform.rawValue)/devices?dead=true` lists them"
        case .retirable(let app, let row, let devices, let share):
            let percent = WavePlan.percentText(Int((share * Double(WavePlan.parts)).rounded()))
            return
                "*\(app.app) \(app.platform.rawValue) \(row.version)* and older: \(row.orOlder) of \(devices) devices"
                + " seen lately, less than \(percent)%: what serves these versions alone may go"
        case .approval(let approval): return text(of: approval)
        case .part(let part, let reason):
            switch event.type {
            case .recovered: return "*\(part)* is well again"
            case .certificateEnds: return "*\(part)* \(reason)"
            case .wentBack: return "*\(part)*: \(reason)"
            default:
                return "*\(part)* does not do its work: \(reason)\n`upgrade-relay store status`, `GET /readyz` say more"
            }
        }
    }

    private static func sentence(_ type: EventType, _ campaign: CampaignRecord) -> String {
        let counts = campaign.figures.counts
        let why = campaign.facts.reason.map { ": \($0)" } ?? ""
        let id = "campaign \(campaign.id)"
        switch type {
        case .waiting: return "is required, and waits\(why)"
        case .waitsLong: return "has been waiting for a day\(why)"
        case .running:
            if campaign.isCanary { return "is in force for \(canary(campaign)); \(id) sends to them" }
            return "is being sent to \(Counted.text(counts.audience, "device")) (\(id))"
        case .paused: return "\(id) is paused\(why)"
        case .suspended: return "\(id) stands still\(why)"
        case .completed: return "\(id) is done: \(outcome(campaign))"
        case .cancelled: return "\(id) is cancelled\(why)"
        case .superseded: return "\(id) is superseded\(why)"
        case .canaryDone: return "the canary, \(canary(campaign)), is done: \(outcome(campaign))"
        case .waveDone:
            let wave =
                campaign.figures.waves.current.map { "wave \($0.number + 1) of \(campaign.figures.waves.list.count)" }
                ?? "a wave"
            return "\(wave) is done: \(outcome(campaign))"
        case .inForce: return "is in force for everybody: users of older versions must upgrade"
        case .withdrawn: return "is withdrawn\(why)"
        case .asked, .approved, .refused, .alone, .dead, .retirable, .certificateEnds, .degraded, .recovered, .wentBack:
            return why
        }
    }

    private static func text(of approval: Approval) -> String {
        let subject = "*\(approval.app.app) \(approval.app.platform.rawValue)*"
        let reach = "\(approval.reach.devices) of \(approval.reach.all) devices"
        let why = approval.reason.map { ": \($0)" } ?? ""
        let by = approval.closedBy ?? "unknown"
        switch approval.state {
        case .open:
            return
                "\(subject) \(approval.asked.name) wants to \(approval.deed), which reaches \(reach): a second person "
                + "decides until \(approval.until.internetTime)\n`upgrade-relay approvals approve \(approval.id)` does it, "
                + "`upgrade-relay approvals refuse \(approval.id) --reason TEXT` refuses it"
        case .approved: return "\(subject) \(by) approved what \(approval.asked.name) asked for: to \(approval.deed)"
        case .refused:
            return "\(subject) \(by) refused what \(approval.asked.name) asked for, to \(approval.deed)\(why)"
        case .alone:
            return
                "\(subject) EMERGENCY: \(by) acted alone, without a second person, to \(approval.deed), which reaches "
                + "\(reach)\(why)"
        case .superseded, .expired: return "\(subject) to \(approval.deed) waits no longer"
        }
    }

    private static func command(_ type: EventType, _ campaign: CampaignRecord) -> [String] {
        func command(_ verb: String, _ does: String) -> String {
            "`upgrade-relay campaigns \(verb) \(campaign.id)` \(does)"
        }
        switch type {
        case .waitsLong: return [command("approve", "overrules the store"), command("cancel", "takes it back")]
        case .paused: return [command("resume", "goes on")]
        case .suspended:
            let goesOn =
                campaign.isHeldBeforeWave ? command("approve", "begins the next wave") : command("resume", "goes on")
            return [command("show", "says more"), goesOn]
        case .canaryDone: return [command("approve", Rollout(campaign).release), command("cancel", "takes it back")]
        case .waveDone: return [command("approve", "begins the next wave at once"), command("pause", "holds it")]
        case .waiting, .running, .completed, .cancelled, .superseded, .inForce, .withdrawn, .asked, .approved, .refused,
            .alone, .dead, .retirable, .certificateEnds, .degraded, .recovered, .wentBack:
            return []
        }
    }

    private static func outcome(_ campaign: CampaignRecord) -> String {
        let counts = campaign.figures.counts
        let parts = DeliveryState.allCases.filter { $0 != .filtered && $0 != .pending && counts[$0] > 0 }
            .map { "\(counts[$0]) \($0.name)" }
        return parts.isEmpty ? "no user had to be notified" : parts.joined(separator: ", ")
    }

    private static func canary(_ campaign: CampaignRecord) -> String {
        Counted.text(campaign.requirement.canary?.count ?? 0, "phone number")
    }
}
