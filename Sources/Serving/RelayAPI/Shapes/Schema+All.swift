// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules
package import WireFormat

extension Schema {
    /// The schemas of the document that have a name: those of the shapes, and of the bodies that clients send.
    package static let named: [(name: String, schema: Schema)] =
        bodies + health + versions + devices + campaigns + administration + events

    private static let health = [
        of(ReadinessReport.health), of(ReadinessReport.shape), of(ReadinessFault.shape), of(LoginAnswer.shape),
        of(UpgradeRequired.shape), of(ProblemDetails.shape), of(FieldFault.shape),
    ]

    private static let versions = [
        of(ShownVersion.shape), of(ShownVersion.releasedShape), of(VersionHistory.shape), of(VersionChange.shape),
        of(InForceChange.shape), of(BlockStatus.shape), of(VersionRecord.builds), of(BumpResult.shape),
        of(PlatformResult.shape), of(PlatformAnswer.shape), of(WithdrawalResult.shape),
        of(UnblockingResult.shape), of(ShownPlan.shape), of(TestPushResult.listShape), of(TestPushResult.shape),
        of(AlertRecord.shape), of(AlertRecord.resultShape), of(API.noteShape), of(Shown.shape), of(Doubt.shape),
        of(ShownApproval.shape), of(ShownApproval.askedShape),
    ]

    private static let devices = [
        of(DeviceRecord.shape), of(DeviceRecord.lineShape), of(RegisteredDevice.shape), of(DeadDevice.shape),
        of(DeviceImport.shape), of(DeviceImport.refusedShape), of(UserErasure.shape), of(UserExplanation.shape),
        of(UserSummary.shape),
        of(UserExplanation.App.shape), of(UserExplanation.Stage.shape), of(UserExplanation.Device.shape),
        of(UserExplanation.Word.shape), of(UserExplanation.Push.shape),
    ]

    private static let campaigns = [
        of(ShownCampaign.shape), of(CampaignCanary.shape), of(Wait.shape), of(Rollout.shape),
        of(CampaignFacts.hurryShape), of(CampaignCounts.shape), of(ChannelAnswers.shape), of(PlannedChannel.shape),
        of(FilterReason.countsShape),
        of(CampaignWave.shape),
        of(CampaignRound.shape), of(CampaignLatency.shape), of(LatencyStretch.shape), of(ShownAdoption.shape),
        of(CampaignReach.shape), of(AdoptionPoint.shape),
        of(VersionShares.shape), of(VersionShares.Row.shape), of(AppAdoption.shape), of(VersionCount.shape),
        of(VersionCount.Row.shape), of(Delivery.shape),
    ]

    private static let administration = [
        of(AuditEntry.shape), of(NotificationRecord.shape), of(NotificationRecord.Attempt.shape),
        of(AccessToken.shape), of(AccessToken.createdShape), of(BegunSession.shape), of(ListedSession.shape),
        of(SessionLink.shape), of(StoreDocument.shape), of(StoreMark.shape), of(StoreWord.shape), of(StoreStep.shape),
        of(StoreRelease.shape), of(StoreCheckLine.shape), of(StoreFault.shape), of(PruneReport.shape),
        of(LogLevel.shape), of(ReloadReport.shape), of(NodeStatus.shape),
    ]

    private static let events = [
        of(EventShapes.campaign), of(EventShapes.dead), of(EventShapes.retirable), of(EventShapes.part),
        of(EventShapes.approval),
    ]

    private static func of<Object>(_ shape: Shape<Object>) -> (name: String, schema: Schema) {
        (shape.name ?? "", shape.schema)
    }
}
