// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Terminal
import UpgradeRules
import WireFormat

/// The status line of `systemctl status`. Pure.
struct ServiceStatus: Sendable {
    enum Phase: Sendable, Equatable {
        case starting
        case serving
        case reloading
        case stopping
    }

    /// The daemon's present work.
    struct Activity: Sendable {
        /// The campaign that this relay has been sending for the longest time.
        var campaign: CampaignStatus?
        /// The number of other campaigns that it sends.
        var others = 0
        /// If it sends none: a campaign that waits for a person or an event, the most urgent state first.
        var held: CampaignStatus?
        /// The number of campaigns, without `held`, that the relay suspended until an operator acts.
        var suspended: Int64 = 0
        /// The fault that keeps it from its work: "store: the disk is full".
        var fault: String?
    }

    var phase = Phase.starting
    /// The text for when there is nothing to do.
    var idle = ""
    var stuck: [String] = []
    var isReloadRefused = false

    func line(_ activity: Activity) -> String {
        guard stuck.isEmpty else { return "Stuck: \(stuck.joined(separator: ", ")); waiting for the watchdog" }
        var parts: [String] = []
        switch phase {
        case .starting: return "Opening the store"
        case .reloading: return "Reading the configuration anew"
        case .stopping: parts = ["Finishing what is in flight"] + (activity.campaign.map { [Self.text($0)] } ?? [])
        case .serving:
            parts = [activity.campaign.map { "Sending \(Self.text($0))" } ?? activity.held.map(Self.held) ?? idle]
        }
        if activity.suspended > 0 { parts.append("suspended: \(Quantity.count(activity.suspended, "campaign"))") }
        if activity.others > 0 { parts.append("\(activity.others) more") }
        if let fault = activity.fault { parts.append(fault) }
        if isReloadRefused { parts.append("the last reload was refused, see the log") }
        return parts.joined(separator: "; ")
    }

    /// "Suspended: com.example.app ios 2.0.0: 5 of 10 (50%), BadDeviceToken: …".
    private static func held(_ campaign: CampaignStatus) -> String {
        let record = campaign.record
        let state = record.state.rawValue
        return "\(state.prefix(1).uppercased())\(state.dropFirst()): \(name(record)): \(share(campaign.counts))"
            + (record.facts.reason.map { ", \($0)" } ?? "")
    }

    private static func name(_ record: CampaignRecord) -> String {
        "\(record.app.app) \(record.app.platform.rawValue) \(record.requirement.version.text)"
    }

    /// "5 of 10 (50%)".
    private static func share(_ counts: CampaignCounts) -> String {
        "\(Quantity.count(counts.settled)) of \(Quantity.count(counts.audience)) "
            + "(\(Quantity.percent(counts.settled, of: counts.audience)))"
    }

    private static func text(_ campaign: CampaignStatus) -> String {
        let record = campaign.record
        var pace = Quantity.rate(campaign.ratePerSecond)
        if let limit = campaign.rateLimit { pace += " of at most \(Quantity.rate(limit))" }
        if let until = campaign.waitingUntil { pace = "outside its hours until \(until.internetTime)" }
        if let wave = record.figures.waves.current {
            pace += ", wave \(wave.number + 1) of \(record.figures.waves.list.count)"
        }
        if let next = campaign.nextWaveAt { pace += " done, next at \(next.internetTime)" }
        return "\(name(record)): \(share(campaign.counts)), \(pace)"
    }
}
