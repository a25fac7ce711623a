// SPDX-License-Identifier: Apache-2.0
package import Terminal

extension CommandTree {
    /// The commands that ask a running daemon, in the order of the overview.
    package static let client: [any Command.Type] = [
        VersionSetCommand.self,
        VersionShowCommand.self,
        PlanCommand.self,
        AlertsSetCommand.self,
        AlertsShowCommand.self,
        AlertsClearCommand.self,
        DevicesImportCommand.self,
        DevicesExportCommand.self,
        DevicesShowCommand.self,
        DevicesRemoveCommand.self,
        CampaignsListCommand.self,
        CampaignsShowCommand.self,
        CampaignsWatchCommand.self,
        CampaignsPauseCommand.self,
        CampaignsResumeCommand.self,
        CampaignsReleaseCommand.self,
        CampaignsCancelCommand.self,
        DeliveriesCommand.self,
        TokensCreateCommand.self,
        TokensListCommand.self,
        TokensRevokeCommand.self,
        NotificationsCommand.self,
        StoreStatusCommand.self,
        StoreBackupCommand.self,
        StoreCheckCommand.self,
        StorePruneCommand.self,
        LogLevelCommand.self,
    ]
}
