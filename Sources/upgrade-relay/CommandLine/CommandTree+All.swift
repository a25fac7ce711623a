// SPDX-License-Identifier: Apache-2.0

extension CommandTree {
    /// Every command of the tool, in the order of the overview.
    static let all = CommandTree(
        commands: [
            ServeCommand.self,
            DemoCommand.self,
            CheckConfigCommand.self,
            SimulateAPNsCommand.self,
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
        ], hidden: [GenerateCommand.self])
}
