// SPDX-License-Identifier: Apache-2.0

/// The operations of a simulated world: everything that people, phones, stores, files, clocks, disks and push services do to a
/// relay. The raw values are the words of a script.
package enum OperationKind: String, CaseIterable, Sendable {
    // People and machines that ask for versions.
    case bump, canary, webhook, pipeline, replay, latest, confirmTexts, otherProgram
    case releaseApp, releaseCampaign, withdraw, block, unblock
    case system, listing
    case pause, resume, hurry, cancel, retry
    case look, actByLook
    case approve, refuse
    // Phones and their owners.
    case register, login, logOut, upgrade, update, move, erase, remove, importFile, uninstall, replace, second
    case patch, moveOn, buyPhone, importList
    // The stores of the apps, and files that require versions.
    case publish, rollOut, haltRollout, goOnRollout, sourceFails, sourceAnswers, launchGate
    // The configuration.
    case reload, removeApp, addApp, removeSource, addSource
    // The store of the relay.
    case prune, backUp, deleteRows, copyStore, putBack, takeOver
    // Failures.
    case weather, crash, kill, diskFails, diskWorks, clockBack, clockForward
    // Time.
    case pass

    /// The relative frequency of the operation in a seed that has it. Bumps are rare: with many, each campaign is superseded before
    /// anything happens to it.
    var weight: Int {
        switch self {
        case .pass: 24
        case .weather, .upgrade, .login: 4
        case .bump, .canary, .webhook, .otherProgram, .withdraw, .refuse: 2
        case .crash, .kill, .removeApp, .removeSource, .clockBack, .clockForward, .deleteRows, .latest, .confirmTexts,
            .unblock, .buyPhone, .takeOver:
            1
        case .pipeline: 2
        case .addApp, .addSource, .look, .actByLook, .diskWorks, .sourceAnswers: 4
        case .copyStore, .putBack, .second: 2
        // In a world of two persons nothing happens without them.
        case .approve: 12
        default: 3
        }
    }

    /// A seed has all operations of one theme or none. Most operations are a theme of their own.
    var theme: OperationKind {
        switch self {
        case .publish, .rollOut, .haltRollout, .goOnRollout: .rollOut
        case .webhook, .replay: .webhook
        case .system, .listing: .system
        case .block, .unblock: .block
        case .look, .actByLook: .look
        case .approve, .refuse: .approve
        case .crash, .kill: .kill
        case .removeApp, .addApp: .removeApp
        case .removeSource, .addSource: .removeSource
        case .diskFails, .diskWorks: .diskFails
        case .copyStore, .putBack: .putBack
        case .sourceFails, .sourceAnswers: .sourceFails
        default: self
        }
    }

    /// Whether every seed has it: without these operations nothing ever happens.
    var isAlways: Bool { self == .pass || self == .bump }

    /// Whether it takes something away from a campaign or from the relay. Pushes on their way make this hard.
    var endsSomething: Bool {
        switch self {
        case .cancel, .pause, .withdraw, .erase, .remove, .logOut, .move, .deleteRows, .prune, .kill, .removeApp: true
        default: false
        }
    }
}
