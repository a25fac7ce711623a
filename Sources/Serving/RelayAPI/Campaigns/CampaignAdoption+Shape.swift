// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// How many devices obeyed a campaign, and when.
struct ShownAdoption {
    let adoption: CampaignAdoption
    /// The versions of the app's devices; nil: not counted yet.
    let shares: VersionShares?
    let at: Timestamp

    var record: CampaignRecord { adoption.record }

    static let shape = Shape<ShownAdoption>(
        "Adoption", "The adoption of a campaign.",
        [
            .member(.campaign, .text, "The campaign's id.") { $0.record.id },
            AppKey.shape.members { $0.record.app },
            UpgradeTarget.shape.members { $0.record.requirement.target },
            .member(.state, .words(CampaignState.self)) { $0.record.state.rawValue },
            .member(
                .begunAt, .instant, "When it started; while it waits, when it was made. The curve begins here, with 0."
            ) { $0.record.begunAt },
            .member(.at, .instant, "The moment of this answer and of all its counts.") { $0.at },
            .member(.audience, .count, "Devices of the audience.") { $0.record.figures.counts.audience },
            .member(
                .alreadyCurrent, .count,
                "Devices of the audience that met the requirement when their turn came and had not been notified at login: they had nothing to obey."
            ) { $0.record.alreadyCurrent },
            .member(.accepted, .count, "Devices of the audience for which the push service accepted a push.") {
                $0.record.figures.counts.accepted
            },
            .member(
                .toldAtLogin, .count,
                "Registered devices, of the audience or not, whose check at login named their token and was answered that they must upgrade. Each counts once. Checks without a token, and those that `listen.checkTrust` does not trust, cannot be counted."
            ) { $0.record.figures.reach.toldAtLogin },
            .member(
                .upgraded, .count, "Devices of the audience since seen with a version that meets the requirement."
            ) { $0.record.figures.upgraded },
            .object(.reachedBy, CampaignReach.shape) {
                (reach: $0.record.figures.reach, unknown: $0.record.reachedUnknown)
            },
            .list(
                .items, of: AdoptionPoint.shape,
                "The curve, ascending. A number holds from its time until the next; before the first it is 0, after the last it is `upgraded`."
            ) { $0.adoption.points },
            .nullableObject(.versions, VersionShares.shape, "null: not counted yet.") { $0.shares },
        ])
}

extension CampaignReach {
    static let shape = Shape<(reach: CampaignReach, unknown: Int64)>(
        "Reached",
        "The channels that had reached the upgraded devices, before they were seen with the version; together they are `upgraded`. Whether they upgraded because of it is not known. Readers of the launch document are not known either: it is asked for without naming a device.",
        [
            .member(.push, .count, "A push was accepted for the device, and it was not notified at login.") {
                $0.reach.push
            },
            .member(.login, .count, "It was notified at login, and no push had been accepted for it.") {
                $0.reach.login
            },
            .member(.both, .count, "A push was accepted for it, and it was notified at login.") { $0.reach.both },
            .member(
                .unknown, .count,
                "Neither, as far as is known: an automatic update, the launch document, a check without a token. Also devices counted by a release that did not keep this."
            ) { $0.unknown },
        ])
}

extension AdoptionPoint {
    static let shape = Shape<AdoptionPoint>(
        "AdoptionPoint", "A point of the curve.",
        [
            .member(.at, .instant, "The time.") { $0.at },
            .member(.upgraded, .integer.with("minimum", 1), "Devices that had upgraded by then.") { $0.upgraded },
        ])
}

extension VersionShares {
    static let shape = Shape<VersionShares>(
        "VersionShares", "The versions of the app's devices seen lately, counted every hour.",
        [
            .member(.countedAt, .instant, "The time of the count.") { $0.countedAt },
            .member(
                .seenSince, .instant,
                "A device must have been registered, or seen at a login check with its token, since this time to count."
            ) { $0.seenSince },
            .member(.seen, .count, "All devices that count.") { $0.devices },
            .member(.unknown, .count, "Devices among these whose version is unknown.") { $0.unknown },
            .member(.retireBelow, .decimal, "The share of the app's configuration.") {
                JSONDecimal(of: $0.retireBelow, places: 6)
            },
            .list(.items, of: Row.shape, "The newest version first, 1,000 at most.") { shares in
                shares.rows.reversed().map { (row: $0, of: shares.devices) }
            },
        ])
}

extension VersionShares.Row {
    static let shape = Shape<(row: VersionShares.Row, of: Int64)>(
        "VersionShare", "The number of devices that have a version.",
        [
            counts.members { $0 },
            .nullable(
                .belowSince, .instant,
                "The time since when this share is below retireBelow: back ends for this version and older ones alone may go. null: it is not."
            ) { $0.row.belowSince },
        ])

    static let counts = Shape<(row: VersionShares.Row, of: Int64)>([
        .member(.version, .version) { $0.row.version.text },
        .member(.devices, .count, "Devices with this version.") { $0.row.devices },
        .member(.share, .decimal, "The same as a share of all that were seen, from 0 to 1.") {
            share($0.row.devices, of: $0.of)
        },
        .member(.orOlder, .count, "Devices with this version, an older one, or an unknown one.") { $0.row.orOlder },
        .member(.orOlderShare, .decimal, "The same as a share.") { share($0.row.orOlder, of: $0.of) },
    ])

    static func share(_ part: Int64, of devices: Int64) -> JSONDecimal {
        JSONDecimal(of: devices > 0 ? min(Double(part) / Double(devices), 1) : 0, places: 6)
    }
}
