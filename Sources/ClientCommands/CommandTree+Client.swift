// SPDX-License-Identifier: Apache-2.0
package import Terminal

extension CommandTree {
    /// The commands that ask a running daemon, in the order of the overview.
    package static let client: [CommandEntry] = [
        .versionSet,
        CommandEntry(VersionShowCommand.self),
        .plan,
        .alertsSet,
        .alertsShow,
        .alertsClear,
        CommandEntry(DevicesImportCommand.self),
        CommandEntry(DevicesExportCommand.self),
        CommandEntry(DevicesShowCommand.self),
        CommandEntry(DevicesRemoveCommand.self),
        .campaignsList,
        .campaignsShow,
        CommandEntry(CampaignsWatchCommand.self),
        .campaignsPause,
        .campaignsResume,
        .campaignsRelease,
        .campaignsCancel,
        .deliveries,
        .tokensCreate,
        .tokensList,
        .tokensRevoke,
        .notifications,
        CommandEntry(StoreStatusCommand.self),
        CommandEntry(StoreBackupCommand.self),
        CommandEntry(StoreCheckCommand.self),
        CommandEntry(StorePruneCommand.self),
        .logLevel,
    ]
}
