// SPDX-License-Identifier: Apache-2.0
import FaultInjection

/// Draws a history from a seed. Each seed has only some of the operations, with its own weights, so that operations that occur
/// together in one seed are not mixed with all others (swarm testing: Groce et al., "Swarm Testing", ISSTA 2012).
package struct Drawing {
    private var dice: SeededGenerator

    package init(seed: UInt64) {
        dice = SeededGenerator(seed: seed)
        // Makes neighbouring seeds differ from the first number on.
        _ = dice.next()
    }

    private mutating func below(_ limit: Int) -> Int { Int(dice.next() % UInt64(limit)) }

    /// - Parameter length: the number of operations; nil: the seed draws it. Many short histories find more than few long ones.
    package mutating func script(length: Int? = nil) -> Script {
        var setup = Setup()
        for (name, values) in Setup.names {
            // About half of a seed's settings stay plain: plain worlds show plain faults.
            setup[name] = below(2) == 0 ? values[0] : values[below(values.count)]
        }
        // A few devices find broken rules. Many find breakers, but cost more.
        setup["devices"] = [3, 3, 3, 3, 3, 8, 8, 8, 8, 40, 40, 120][below(12)]
        if setup["devices"] > 8 { setup["batch"] = 50 }
        let count = length ?? [20, 60, 300][below(3)]
        // A relay that looks often has ten times the turns, and hardly ever sees more: its own changes wake it.
        setup["look"] = count < 100 && below(4) == 0 ? 60 : 600
        setup["every"] = below(4) == 0 ? 30 : 120
        setup["chance"] = below(1 << 20)
        // Faults that need several settings and operations at once hardly ever occur by chance.
        let number = below(2 * Theme.allCases.count)
        let theme = number < Theme.allCases.count ? Theme.allCases[number] : .plain
        var themes = takeUp(theme, in: &setup)
        // Whether a version of a file, of another program or of a policy waits for a second person is not modelled.
        for app in 0..<2 where setup["eyes\(app)"] > 0 {
            (setup["file\(app)"], setup["policy\(app)"], setup["moment\(app)"]) = (0, 0, 0)
            themes[.approve] = true
        }
        let kinds = kinds(with: themes)
        let total = kinds.reduce(0) { $0 + $1.weight }
        let interleaves = [0, 50, 5][below(3)]
        // Half of the changes of the weather are one trouble of one service, which comes back and lasts. In half of the seeds this
        // trouble is there when the world begins. See `World.actOnMachine` for the meaning of a place's number.
        // Half of these troubles are one of three that are seldom noticed otherwise.
        let part: [Weather] = [.someFail, .unreachable, .allBad]
        let isTroubled = !theme.troubles.isEmpty
        let all = isTroubled ? theme.troubles : below(2) == 0 ? part : Array(Weather.allCases.dropFirst())
        let isSandbox =
            theme == .sandbox || (0..<setup["apps"]).contains { setup["sandbox", $0] == 1 } && below(2) == 0
        let favourite = Operation(
            .weather, (isTroubled ? 0 : below(2)) + (isSandbox ? 6 : 0), all[below(all.count)].number + below(2))
        // Whether operations often hit a campaign that has just begun: only in a few seeds, because bumps are as frequent as those
        // operations there.
        let isYoung = below(4) == 0
        let prunes = kinds.contains { $0.kind == .prune }
        var operations: [Operation] = []
        if kinds.contains(where: { $0.kind == .weather }), isTroubled || below(2) == 0 { operations.append(favourite) }
        operations += theme.beginning
        while operations.count < count {
            var ticket = below(total)
            guard
                let chosen = kinds.first(where: { kind in
                    ticket -= kind.weight
                    return ticket < 0
                })
            else { continue }
            var operation = Operation(chosen.kind, below(1000), below(1000))
            if operation.kind == .pass { operation.first = passing() }
            if operation.kind == .weather, below(2) == 0 { operation = favourite }
            let isAimed = theme.aimsAt.contains(operation.kind)
            if isAimed || isYoung && operation.kind.endsSomething && below(3) == 0 {
                if operation.kind == .register {
                    // Makes the second number odd: the same token as before.
                    operation.second |= 1
                    operations.append(Operation(.uninstall, operation.first))
                }
                operations.append(Operation(.bump, isAimed ? 0 : below(1000), below(1000)))
            }
            if operation.kind == .cancel, prunes, isAimed || below(3) == 0 {
                // A campaign that has just ended may have pushes on their way.
                operation.isFollowedByTurn = false
                operations.append(operation)
                operation = Operation(.prune, isAimed ? 0 : below(1000), 0)
            } else if theme == .calledBack, isAimed {
                // The connection of its pushes dies, and comes back.
                operations.append(operation)
                operations.append(Operation(.weather, 0, Weather.unreachable.number))
                operation = Operation(.weather, 0, 0)
            }
            if interleaves > 0, operation.kind != .pass, below(interleaves) == 0 {
                // Aims the operation: the one before it has had no turn yet, and this one comes into that turn, mostly early.
                operation.middle = 1 + (below(3) == 0 ? below(60) : below(14))
                if let last = operations.indices.last, operations[last].kind != .pass {
                    operations[last].isFollowedByTurn = false
                }
                if below(3) == 0 {
                    // Puts the operation into the middle of a pruning, which is a turn of its own.
                    operation.isFollowedByTurn = false
                    if below(2) == 0 { operation.kind = .retry }
                    operations.append(operation)
                    operation = Operation(.prune, below(1000), 0)
                }
            } else if below(12) == 0 {
                operation.isFollowedByTurn = false
            }
            operations.append(operation)
        }
        return Script(setup: setup, operations: operations)
    }

    /// Applies a theme's settings.
    ///
    /// - Returns: the operations that the theme includes, or excludes.
    private mutating func takeUp(_ theme: Theme, in setup: inout Setup) -> [OperationKind: Bool] {
        var themes: [OperationKind: Bool] = [:]
        func have(_ kinds: OperationKind...) { for kind in kinds { themes[kind] = true } }
        switch theme {
        case .rollOut, .rollOutInWaves:
            have(.rollOut)
            (setup["platform0"], setup["gate0"]) = (1, 1)
            if theme == .rollOutInWaves { (setup["waves0"], setup["approval0"]) = (1 + below(2), 1) }
        case .sandbox:
            have(.weather)
            (setup["apps"], setup["platform0"], setup["sandbox0"], setup["gate0"], setup["file0"]) = (1, 0, 1, 0, 0)
            // Production has something left to send when the sandbox is found to be in trouble.
            (setup["batch"], setup["streams0"], setup["devices"]) = (1, 1, 8)
            (setup["waves0"], setup["approval0"], setup["failed0"]) = (below(2), 0, 0)
        case .forgotten:
            have(.uninstall, .cancel, .prune)
            themes[.deleteRows] = false
            // Only one of two environments has its outcomes in batches, which hold no device in the store.
            (setup["platform0"], setup["sandbox0"], setup["devices"]) = (0, 1, 8)
            (setup["gate0"], setup["waves0"], setup["slow"]) = (0, 0, 20)
        case .deleted:
            have(.weather, .deleteRows)
            setup["slow"] = 20
        case .calledBack:
            have(.weather, .pause, .cancel)
            setup["slow"] = 20
        case .back:
            have(.register, .uninstall)
            (setup["gate0"], setup["waves0"], setup["slow"]) = (0, 0, 20)
        case .canary:
            have(.weather, .canary, .move)
            (setup["gate0"], setup["devices"]) = (0, 3)
        case .dead:
            have(.weather)
            (setup["devices"], setup["batch"], setup["gate0"]) = (40, 50, 0)
        case .refused, .paused:
            have(.weather, .kill)
            if theme == .paused { (setup["platform0"], setup["sandbox0"]) = (0, 0) }
            (setup["gate0"], setup["waves0"], setup["devices"]) = (0, 0, 8)
            (setup["batch"], setup["streams0"], setup["slow"]) = (1, 1, 20)
        case .astray:
            have(.weather)
            (setup["platform0"], setup["other0"], setup["astray0"], setup["gate0"]) = (0, 1, 1 + below(2), 0)
            (setup["sandbox0"], setup["devices"]) = (below(2), [8, 40][below(2)])
        case .lists:
            have(.importList, .importFile, .patch, .moveOn)
            (setup["gate0"], setup["slow"], setup["devices"]) = (0, 20, [3, 8][below(2)])
        case .badBuild:
            have(.rollOut, .block)
            (setup["platform0"], setup["gate0"], setup["fraction0"]) = (1, 1, 10)
        case .night:
            have(.releaseCampaign)
            (setup["hours0"], setup["life0"], setup["gate0"]) = ([3, 6, 9][below(3)], 168, 0)
            (setup["waves0"], setup["pause0"], setup["approval0"]) = (1 + below(2), 60, 0)
        case .released:
            have(.releaseCampaign)
            (setup["waves0"], setup["pause0"], setup["approval0"]) = (1 + below(2), 60, 0)
            (setup["gate0"], setup["hours0"], setup["devices"]) = (0, 0, [8, 40][below(2)])
        case .systems:
            have(.system)
            (setup["system0"], setup["gate0"]) = (1, 1)
        case .waves:
            have(.pause, .resume, .releaseCampaign, .second)
            (setup["apps"], setup["devices"]) = (2, [8, 8, 40][below(3)])
            for app in 0..<2 {
                (setup["waves\(app)"], setup["approval\(app)"]) = (1 + below(2), below(2))
                (setup["gate\(app)"], setup["sandbox\(app)"], setup["astray\(app)"]) = (0, 0, 0)
            }
        case .erased:
            have(.weather, .erase)
            (setup["gate0"], setup["devices"]) = (0, 8)
        case .eyes:
            have(.approve, .block, .releaseApp, .releaseCampaign, .cancel, .kill, .canary)
            (setup["eyes0"], setup["apps"]) = (1, 1)
        case .plain: break
        }
        return themes
    }

    /// - Parameter themes: the themes that are already decided.
    private mutating func kinds(with themes: [OperationKind: Bool]) -> [(kind: OperationKind, weight: Int)] {
        // Operations that mean nothing without each other come together.
        var themes = themes
        return OperationKind.allCases.compactMap { kind in
            let isOn = themes[kind.theme] ?? (below(2) == 0)
            themes[kind.theme] = isOn
            let weight = kind.weight * [1, 2, 4][below(3)]
            return kind.isAlways ? (kind, kind.weight) : isOn ? (kind, weight) : nil
        }
    }

    /// Mostly minutes; now and then a night, for waits of that length.
    private mutating func passing() -> Int {
        let ticket = below(60)
        return ticket < 54
            ? [0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 0, 1, 2][ticket % 18] : [6, 6, 6, 7, 7, 8][ticket - 54]
    }
}
