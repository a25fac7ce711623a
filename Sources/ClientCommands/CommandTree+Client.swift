// SPDX-License-Identifier: Apache-2.0
package import Terminal

extension CommandTree {
    /// The commands that ask a running daemon, in the order of the overview.
    package static let client: [CommandEntry] = [
        .versionSet,
        .versionShow,
        .versionRelease,
        .versionWithdraw,
        .plan,
        .testPush,
        .alertsSet,
        .alertsShow,
        .alertsClear,
        .devicesImport,
        .devicesExport,
        .devicesShow,
        .devicesRemove,
        .usersExplain,
        .campaignsList,
        .campaignsShow,
        .campaignsWatch,
        .campaignsAdoption,
        .campaignsPause,
        .campaignsResume,
        .campaignsRelease,
        .campaignsCancel,
        .campaignsRetry,
        .deliveries,
        .tokensCreate,
        .tokensList,
        .tokensRevoke,
        .notifications,
        .storeStatus,
        .storeBackup,
        .storeRestore,
        .storeMigrate,
        .storeCheck,
        .storePrune,
        .logLevel,
        .reload,
    ]
}
