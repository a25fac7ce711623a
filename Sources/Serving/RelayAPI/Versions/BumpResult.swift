// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// The answer to a bump.
struct BumpResult {
    let version: VersionStatus
    let campaign: CampaignRecord?
    let blockCampaigns: [CampaignRecord]
    let warnings: [String]
    let sentence: String

    static let shape = Shape<BumpResult>(
        "BumpResult", "The result of a bump.",
        [
            .object(.version, ShownVersion.shape) { ShownVersion($0.version) },
            .nullableObject(.campaign, ShownCampaign.shape) { $0.campaign.map(ShownCampaign.init(of:)) },
            .list(.blockCampaigns, of: ShownCampaign.shape, "The campaigns of the versions that it blocked.") {
                $0.blockCampaigns.map(ShownCampaign.init(of:))
            },
            .member(.warnings, .list(of: .text), "The effects of the published document on versions still seen.") {
                $0.warnings
            },
            .sentence { $0.sentence },
        ])
}

/// The answer to a withdrawal.
struct WithdrawalResult {
    let withdrawn: Version
    let version: VersionStatus
    let campaign: CampaignStatus?

    static let shape = Shape<WithdrawalResult>(
        "Withdrawal", "The result of a withdrawal.",
        [
            .member(.withdrawn, .version) { $0.withdrawn.text },
            .object(.version, ShownVersion.shape) { ShownVersion($0.version) },
            .nullableObject(
                .campaign, ShownCampaign.shape, "The campaign of the withdrawn version; null: it had none."
            ) { $0.campaign.map { ShownCampaign(status: $0) } },
            .sentence { ActWords.after(withdrawalOf: $0.withdrawn, $0.version.record, $0.campaign) },
        ])
}

/// The answer to the unblocking of versions.
struct UnblockingResult {
    let unblocked: [Version]
    let version: VersionStatus

    static let shape = Shape<UnblockingResult>(
        "Unblocking", "Versions that may be used again.",
        [
            .member(.unblocked, .list(of: .version)) { $0.unblocked.map(\.text) },
            .object(.version, ShownVersion.shape) { ShownVersion($0.version) },
            .sentence { ActWords.after(unblockingOf: $0.unblocked, $0.version.record.app) },
        ])
}
