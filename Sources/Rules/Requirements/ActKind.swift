// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import UpgradeRules

/// A person's act whose facts are shown before it is carried out. The facts that were shown are sent with it: API
/// clients may send them, the page and the commands always do.
package enum ActKind: String, Hashable, Sendable, CaseIterable {
    // Versions.
    case raise, release, withdraw, unblock
    // Campaigns.
    case pause, approve, resume, releaseCampaign, cancel, retry
    // Alerts at launch.
    case setAlert, clearAlert
    // People and tokens.
    case removeDevice, eraseUser, revokeToken

    /// The acts on a campaign, in the order in which they are offered.
    package static let ofCampaigns = [ActKind.pause, .approve, .resume, .releaseCampaign, .retry, .cancel]

    /// The facts that it may carry.
    package var facts: [Shown.Fact] {
        switch self {
        case .raise: [.version, .devices]
        case .release, .withdraw: [.version, .state, .devices]
        case .unblock: [.state, .devices]
        case .pause, .approve, .resume, .releaseCampaign, .cancel: [.version, .state, .wave, .devices]
        case .retry: [.version, .state, .wave, .round, .devices]
        case .setAlert, .clearAlert: [.text]
        case .removeDevice: [.text]
        case .eraseUser: [.devices]
        case .revokeToken: [.state]
        }
    }

    /// Whether it may wait for a second person.
    package var mayWait: Bool { [.raise, .release, .approve, .releaseCampaign, .cancel].contains(self) }

    /// The act's name in paths and commands. The release of a campaign is "release", too: another word for approving it.
    package var verb: String { self == .releaseCampaign ? "release" : rawValue }
}

extension Requirements {
    /// A block's state, in a word: "inForce", "waiting", "superseded" where a floor above it has taken its place.
    package func standing(ofBlock row: Requirement) -> String {
        isSuperseded(row) ? "superseded" : row.state == .inForce ? "inForce" : "waiting"
    }

    /// The facts that a person is shown about blocked versions.
    package func shown(ofBlocks versions: [Version], devices: Int64) -> Shown {
        let standings = Set(versions.compactMap { live($0, kind: .blocked).map { standing(ofBlock: $0) } })
        return Shown([
            .state: .init(standings.isEmpty ? nil : standings.sorted().joined(separator: ", ")),
            .devices: .number(devices),
        ])
    }
}

extension Requirement {
    /// The requirement's state, in a word: "asked", "waiting", "announced", "canary", "waves", "inForce", "withdrawn".
    package var standing: String {
        switch state {
        case .asked: "asked"
        case .waiting: "waiting"
        case .announced: "announced"
        case .inForce where reach == 0: "canary"
        case .inForce where reach < Self.everybody: "waves"
        case .inForce: "inForce"
        case .withdrawn: "withdrawn"
        }
    }

    /// The facts that a person is shown about a requirement.
    ///
    /// - Parameter devices: how many its app has.
    package static func shown(_ row: Requirement?, devices: Int64) -> Shown {
        Shown([.version: .init(row?.version), .state: .init(row?.standing), .devices: .number(devices)])
    }
}

extension CampaignRecord {
    /// The number of the wave that begins next, from 1; nil where none is to come, or the next one was already
    /// allowed to begin.
    package var waveToCome: Int64? {
        let waves = figures.waves
        guard !waves.isEmpty else { return requirement.stages != nil && (isCanary || facts.startedAt == nil) ? 1 : nil }
        guard let next = waves.next, waves.current?.releasedAt == nil else { return nil }
        return Int64(next.number + 1)
    }

    /// The facts that a person is shown about the campaign.
    package var shown: Shown {
        Shown([
            .version: .init(requirement.version), .state: .text(state.rawValue), .wave: .init(waveToCome),
            .round: .number(Int64(figures.rounds.count + 1)), .devices: .number(figures.counts.audience),
        ])
    }
}
