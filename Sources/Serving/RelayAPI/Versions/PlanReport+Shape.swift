// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The result of a dry run of a bump.
struct ShownPlan {
    let app: AppKey
    let report: PlanReport
    let inForce: Version?
    let warnings: [String]

    static let shape = Shape<ShownPlan>(
        "Plan", "The devices that would get a push.",
        [
            AppKey.shape.members { $0.app },
            .nullable(.inForce, .version, "The requirement in force.") { $0.inForce?.text },
            .nullable(
                .waitingReason, .text,
                "The reason why the version would first wait; null: it would be in force at once."
            ) { $0.report.wait?.reason },
            .nullable(.waitingUntil, .instant, "The end of the wait, if time alone ends it.") { $0.report.wait?.end },
            .nullable(
                .pushesFrom, .instant,
                "The time of the first push, if it would wait for the app's hours (pace.hours); null: it would not, or the bump has now: true."
            ) { $0.report.hours?.until },
            .member(.audience, .count) { $0.report.survey.audience },
            .member(
                .toPush, .count,
                "Devices that the bump would push to, for its floor and its blocks together; 0 if nothing would rise, except for newly named users."
            ) { $0.report.toPush },
            .list(
                .channels, of: PlannedChannel.shape,
                "The devices that each push service would push to where there is more than one; empty: one has all of them."
            ) { plan in
                plan.report.pushesOfChannels.map {
                    PlannedChannel(channel: $0.channel.label(on: plan.app.platform), toPush: $0.toPush)
                }
            },
            .nullable(
                .canary, .count, "The number of these devices that get it first; null: the bump names no telephones."
            ) { $0.report.canary },
            .nullable(
                .waves, .list(of: .number.within(0...100)),
                "The parts of the users, in percent, that it would reach one after the other; null: all at once."
            ) { $0.report.waves?.ends.map { JSONDecimal(of: Double($0) / 100, places: 2) } },
            .nullable(.campaign, .text, "If nothing would rise: the campaign that already announces `required`.") {
                $0.report.campaign
            },
            .object(.filteredBy, FilterReason.countsShape) { $0.report.survey.filteredBy },
            .nullable(.required, .version, "The version that would be required; null if versions are blocked alone.") {
                $0.report.required?.text
            },
            .member(.rises, .flag, "Whether the bump would raise the requirement.") { $0.report.rises },
            .nullable(
                .largestKnown, .version,
                "The highest version beyond doubt: of those that were announced, that a store offers, and that ten devices and one in a hundred run, or a newer one. A single device may run a newer one. null: none is known."
            ) { $0.report.largestKnown?.text },
            .member(.needsConfirmation, .flag, "Whether the bump is refused unless `confirm` names its doubts.") {
                !$0.report.doubts.isEmpty
            },
            .member(
                .warnings, .list(of: .text),
                "The effects of the published document on versions still seen; devices that can never obey; delays by the hours."
            ) { $0.warnings },
            .list(.doubts, of: Doubt.shape, "The doubts for which the bump is refused unless `confirm` names them.") {
                $0.report.doubts
            },
            .list(
                .blocks, of: PlannedBlock.shape, "The versions that would be blocked, with the devices that run them."
            ) {
                $0.report.blocks
            },
            .member(
                .samplePayload, .map(of: .anything),
                "The payload for the push service: APNs' payload, or the message for Firebase. `aps.alert` is a text, or a dictionary if `push.alert` has a title or a key. Its `page` names the required version, and its version code if that is known: an app that runs it drops the push."
            ) { WrittenJSON($0.report.samplePayload) },
            // The size on the wire, which cannot be recomputed from the JSON here.
            .member(
                .samplePayloadSize, .count,
                "In bytes, as the push service counts them: for iOS the whole payload, for Android the keys and values of `data` and of the texts that the system shows. 4096 at most."
            ) { Int64($0.report.samplePayloadSize) },
        ])
}

/// The part of a bump's pushes that one push service would carry.
struct PlannedChannel {
    let channel: String
    let toPush: Int64

    static let shape = Shape<PlannedChannel>(
        "PlannedChannel", "The devices that one push service would push to.",
        [
            .member(
                .channel, .text,
                "The platform's own push service as `production` or `sandbox`, the one beside it by its name."
            ) { $0.channel },
            .member(.toPush, .count) { $0.toPush },
        ])
}

extension PlannedBlock {
    static let shape = Shape<PlannedBlock>([
        .member(.version, .version) { $0.version.text },
        .member(
            .toPush, .count,
            "Devices that would be pushed to; 0 if it is blocked already, or a floor above it is in force for everybody."
        ) { $0.toPush },
        .member(.osTooOld, .count, "Devices whose system runs no version above it.") { $0.osTooOld },
    ])
}
