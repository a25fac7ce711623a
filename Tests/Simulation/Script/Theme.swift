// SPDX-License-Identifier: Apache-2.0

/// The subject of a seed that needs several settings and operations at once, which hardly ever meet by chance.
enum Theme: CaseIterable {
    /// A store that rolls out, halts and resumes.
    case rollOut
    case rollOutInWaves
    /// A sandbox that is in trouble.
    case sandbox
    /// Campaigns and devices that end while pushes are on their way, and are pruned then.
    case forgotten
    /// Rows that another program deletes while pushes fail.
    case deleted
    /// Pushes that are called back while their connection dies.
    case calledBack
    /// Tokens that were dead and come back while pushes to them are on their way.
    case back
    /// A canary whose phones change hands while its pushes fail.
    case canary
    /// A service that calls all tokens dead.
    case dead
    /// A service that refuses all tokens while the process dies, and recovers then.
    case refused
    /// A key that must be left alone while the process dies.
    case paused
    /// Tokens that are registered in the wrong environment, and tried in the other.
    case astray
    /// Lists of another program that arrive while pushes are on their way to the devices that they name.
    case lists
    /// A bad build whose way out is rolled out, and halted.
    case badBuild
    /// Hours over midnight, and waves that a person lets begin.
    case night
    /// Waves that a person lets begin before their pause is over.
    case released
    /// Systems for which people and stores have different answers.
    case systems
    /// Several campaigns in waves, each of which waits for a person, or for the other.
    case waves
    /// Users who are erased while their pushes fail and are tried again.
    case erased
    /// Acts that wait for a second person, while the process dies.
    case eyes
    /// Any combination that chance makes.
    case plain

    /// The weather that the world begins with, and that comes back, is one of these; empty: chance decides.
    var troubles: [Weather] {
        switch self {
        case .sandbox: [.unreachable, .unreachable, .serverErrors, .keyPause, .badKey]
        case .deleted: [.someFail]
        case .canary: [.someFail, .serverErrors]
        case .dead: [.allGone]
        case .refused: [.allBad]
        case .paused: [.keyPause]
        case .astray: [.someFail, .unreachable, .keyPause, .goAway]
        case .erased: [.someFail, .serverErrors, .flaky, .busyDevices]
        case .rollOut, .rollOutInWaves, .forgotten, .calledBack, .back, .lists, .badBuild, .night, .released, .systems,
            .waves, .eyes, .plain:
            []
        }
    }

    /// The first operations, after that weather.
    var beginning: [Operation] {
        switch self {
        case .sandbox: [Operation(.bump), Operation(.pass, 7)]
        case .forgotten: [Operation(.uninstall, 2), Operation(.bump), Operation(.pass, 6)]
        case .canary: [Operation(.canary), Operation(.move, 0, 1)]
        case .dead: [Operation(.bump), Operation(.pass, 3)]
        case .refused: [Operation(.bump), Operation(.pass, 1), Operation(.kill), Operation(.weather)]
        case .paused: [Operation(.bump), Operation(.pass, 2), Operation(.kill), Operation(.pass, 1)]
        case .astray: [Operation(.bump), Operation(.pass, 2)]
        case .badBuild: [Operation(.block), Operation(.rollOut, 0, 55), Operation(.pass, 5)]
        case .night: [Operation(.pass, 7)]
        case .released:
            [Operation(.bump), Operation(.pass, 3), Operation(.releaseCampaign), Operation(.pass, 4)]
        case .systems: [Operation(.bump, 0, 5), Operation(.pass, 1)]
        case .rollOut, .rollOutInWaves, .deleted, .calledBack, .back, .lists, .plain: []
        case .waves: [Operation(.second), Operation(.bump), Operation(.bump, 1), Operation(.pass, 3)]
        case .erased: [Operation(.bump), Operation(.pass, 2), Operation(.erase), Operation(.pass, 4)]
        case .eyes: [Operation(.bump), Operation(.approve, 0, 1), Operation(.pass, 1)]
        }
    }

    /// The operations that hit a campaign that has just begun.
    var aimsAt: Set<OperationKind> {
        switch self {
        case .forgotten: [.cancel]
        case .deleted: [.deleteRows]
        case .calledBack: [.pause, .cancel]
        case .back: [.register]
        case .lists: [.importList]
        case .rollOut, .rollOutInWaves, .sandbox, .canary, .dead, .refused, .paused, .astray: []
        case .badBuild, .night, .released, .systems, .waves, .erased, .eyes, .plain: []
        }
    }
}
