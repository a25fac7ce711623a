// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// An event as a receiver gets it.
struct SentEvent<Data> {
    let type: String
    let at: Timestamp
    let data: Data

    fileprivate static func shape(
        _ name: String, _ text: String, types: [String], _ note: String, atNote: String? = nil,
        _ data: ShapeMember<SentEvent>
    ) -> Shape<SentEvent> {
        Shape(
            name, text,
            [
                .member(.type, .words(types), note) { $0.type },
                .member(.timestamp, .instant, atNote) { $0.at },
                data,
            ])
    }
}

/// The shapes of the five kinds of events.
enum EventShapes {
    typealias DeadTokens = (app: AppKey, devices: [DeadDevice], through: DeadPlace)
    typealias Retirable = (app: AppKey, row: VersionShares.Row, devices: Int64, retireBelow: Double)
    typealias Part = (part: String, reason: String)

    private static let ofOthers: [EventType] = [
        .asked, .approved, .refused, .alone, .dead, .retirable, .certificateEnds, .degraded, .recovered, .wentBack,
    ]

    static let campaign = SentEvent<CampaignRecord>.shape(
        "CampaignEvent", "A change of a campaign or its requirement, as a receiver gets it.",
        types: EventType.allCases.filter { !ofOthers.contains($0) }.map(\.rawValue),
        "campaign. and its new state; campaign.canaryDone: a person releases it or takes it back; campaign.waveDone; campaign.waitsLong: its store has not offered it for a day; requirement.inForce: everybody must have it; requirement.withdrawn. More types may be added.",
        atNote: "When it happened: events may come late, and out of order.",
        .object(.data, ShownCampaign.shape) { ShownCampaign(of: $0.data) })

    static let dead = SentEvent<DeadTokens>.shape(
        "DeadTokensEvent", "Dead tokens of an app, as a receiver gets them, to clean its own table.",
        types: [EventType.dead.rawValue], "Sent only to receivers whose events name it.",
        .object(.data, deadTokens) { $0.data })

    static let retirable = SentEvent<Retirable>.shape(
        "VersionEvent", "A version that its users have left, as a receiver gets it.",
        types: [EventType.retirable.rawValue],
        "Once for each fall: again only if the version rises to one and a half times the share, and falls again.",
        .object(.data, retirableData) { $0.data })

    static let approval = SentEvent<ShownApproval>.shape(
        "ApprovalEvent", "A request for a second person, as a receiver gets it.",
        types: [EventType.asked, .approved, .refused, .alone].map(\.rawValue),
        "approval.asked: an act waits; approval.approved: it was done; approval.refused; approval.alone: in an emergency, one person did it without a second one.",
        .object(.data, ShownApproval.shape) { $0.data })

    static let part = SentEvent<Part>.shape(
        "PartEvent", "A fault of a part of the relay, as a receiver gets it.",
        types: [EventType.certificateEnds, .degraded, .recovered, .wentBack].map(\.rawValue)
            + [NotificationDocument.testType],
        "certificate.endsSoon: of an app that is pushed to with a certificate; relay.degraded: /readyz has shown a fault for a minute; relay.recovered: it is over; store.wentBack: the store went back in time; relay.test: an operator tries the receiver with check-config --online, and nothing has happened.",
        .object(.data, partData) { $0.data })

    /// Without telephones. Nothing can be pushed to these tokens any more.
    private static let deadTokens = Shape<DeadTokens>([
        AppKey.shape.members { $0.app },
        .list(
            .tokens, of: deadToken,
            "500 at most: those that are still dead when it is sent. A later attempt lacks those that were registered again."
        ) { $0.devices },
        .member(
            .since, .text, "The parameter since of the list of dead tokens, for those that come after these."
        ) { Cursor.text($0.through) },
    ])

    private static let deadToken = Shape<DeadDevice>([
        .personal(.token) { $0.record.registration.token },
        .member(.environment, .environment) {
            $0.record.registration.environment.name
        },
        .member(
            .registeredAt, .instant,
            "When the token was last registered: if you have a later registration, it lives."
        ) { $0.record.registeredAt },
        .written(.retiredAt, .instant, "The time of its death.") { $0.value($1.record.retiredAt) },
    ])

    private static let retirableData = Shape<Retirable>([
        AppKey.shape.members { $0.app },
        VersionShares.Row.counts.members { (row: $0.row, of: $0.devices) },
        .written(.belowSince, .instant, "The moment since when it is in force.") { $0.value($1.row.belowSince) },
        .member(.seen, .count, "All devices seen lately.") { $0.devices },
        .member(.retireBelow, .decimal, "The share of the app's configuration, below which these are.") {
            JSONDecimal(of: $0.retireBelow, places: 6)
        },
    ])

    private static let partData = Shape<Part>([
        .member(.part, .text, "As /readyz names it.") { $0.part },
        .member(.reason, .text, "The fault and its remedy; empty if it is over.") { $0.reason },
    ])
}
