// SPDX-License-Identifier: Apache-2.0
import APNsSimulator
import ClientCommands
import Configuration
import Terminal

/// What the demo expects, and whether relay and simulator agree with it and with each other. Pure.
struct DemoLedger: Sendable {
    /// One figure by up to three books; nil where one does not keep it.
    struct Check: Sendable, Equatable {
        var name: String
        var relay: Int64?
        var simulator: Int64?
        /// Counted from the devices themselves.
        var expected: Int64

        var isRight: Bool { (relay ?? expected) == expected && (simulator ?? expected) == expected }
    }

    /// The devices by what has to become of them, counted without asking the relay.
    struct Expectation: Sendable, Equatable {
        var audience: Int64 = 0
        var accepted: Int64 = 0
        var acceptedLater: Int64 = 0
        var unregistered: Int64 = 0
        var rejected: Int64 = 0
        var noTelephone: Int64 = 0
        var alreadyCurrent: Int64 = 0

        var pushed: Int64 { accepted + unregistered + rejected }

        init(_ population: DemoPopulation) {
            for number in 0..<population.count {
                audience += 1
                switch population.fate(of: population.device(number)) {
                case .accepted: accepted += 1
                case .acceptedLater:
                    accepted += 1
                    acceptedLater += 1
                case .unregistered: unregistered += 1
                case .rejected: rejected += 1
                case .noTelephone: noTelephone += 1
                case .alreadyCurrent: alreadyCurrent += 1
                }
            }
        }
    }

    /// Pushes that reached whom they should not, and devices that were left out: told by the simulator's own book.
    struct Reach: Sendable, Equatable {
        var pushedInError: Int64 = 0
        var leftOut: Int64 = 0

        init(pushedInError: Int64, leftOut: Int64) {
            self.pushedInError = pushedInError
            self.leftOut = leftOut
        }

        init(_ population: DemoPopulation, _ accepted: AcceptedPushes) {
            for number in 0..<population.count {
                let device = population.device(number)
                let times = accepted.count(ofToken: device.token)
                switch population.fate(of: device) {
                case .accepted, .acceptedLater: leftOut += times == 0 ? 1 : 0
                case .unregistered, .rejected, .noTelephone, .alreadyCurrent: pushedInError += times > 0 ? 1 : 0
                }
            }
            for number in 0..<population.otherCount {
                pushedInError += accepted.count(ofToken: population.otherDevice(number).token) > 0 ? 1 : 0
            }
        }
    }

    /// Of the simulator, as far as they are compared.
    struct Figures: Sendable, Equatable {
        var distinctIDs: Int64 = 0
        var distinctTokens: Int64 = 0
        var rejectedBy: [String: Int64] = [:]

        init() {}

        init(_ figures: SimulatorFigures) {
            distinctIDs = Int64(figures.distinctIDs)
            distinctTokens = Int64(figures.distinctTokens)
            rejectedBy = figures.rejectedBy.mapValues(Int64.init)
        }
    }

    private(set) var checks: [Check] = []

    var addsUp: Bool { checks.allSatisfy(\.isRight) }

    /// - Parameters:
    ///   - wouldBePushed: what the dry run said.
    ///   - campaigns: how many there are in all, although the webhook was sent twice.
    init(
        campaign: CampaignText, wouldBePushed: Int64, campaigns: Int64, expectation: Expectation, figures: Figures,
        reach: Reach
    ) {
        let counts = campaign.counts
        let filteredBy = campaign.tree["filteredBy"] ?? .null
        let rejectedBy = campaign.tree["rejectedBy"] ?? .null
        let filtered = expectation.noTelephone + expectation.alreadyCurrent
        let sum = CampaignText.countNames.reduce(0) { $0 + counts.count($1) }
        func add(_ name: String, relay: Int64? = nil, simulator: Int64? = nil, expected: Int64) {
            checks.append(Check(name: name, relay: relay, simulator: simulator, expected: expected))
        }
        func refused(_ reason: String) -> Int64 { figures.rejectedBy[reason] ?? 0 }
        add("audience", relay: campaign.audience, expected: expectation.audience)
        add("sum of all outcomes", relay: sum, expected: expectation.audience)
        add("dry run: would be pushed", relay: wouldBePushed, expected: expectation.pushed)
        add(
            "accepted, by apns-id", relay: counts.count("accepted"), simulator: figures.distinctIDs,
            expected: expectation.accepted)
        add("accepted, by device", simulator: figures.distinctTokens, expected: expectation.accepted)
        add(
            "unregistered (410)", relay: counts.count("unregistered"), simulator: refused("Unregistered"),
            expected: expectation.unregistered)
        add(
            "rejected: BadDeviceToken (400)", relay: rejectedBy.count("BadDeviceToken"),
            simulator: refused("BadDeviceToken"), expected: expectation.rejected)
        add("rejected, for any reason", relay: counts.count("rejected"), expected: expectation.rejected)
        add("told to wait (429)", simulator: refused("TooManyRequests"), expected: expectation.acceptedLater)
        add("filtered: no telephone", relay: filteredBy.count("noTelephone"), expected: expectation.noTelephone)
        add(
            "filtered: already current", relay: filteredBy.count("alreadyCurrent"), expected: expectation.alreadyCurrent
        )
        add("filtered, for any reason", relay: counts.count("filtered"), expected: filtered)
        add("pushed who should not be", simulator: reach.pushedInError, expected: 0)
        add("left out who should be pushed", simulator: reach.leftOut, expected: 0)
        add("campaigns, the webhook sent twice", relay: campaigns, expected: 1)
    }

    var table: String {
        var table = TextTable([
            .init("FIGURE"), .init("RELAY", .right), .init("SIMULATOR", .right), .init("MUST BE", .right), .init(""),
        ])
        for check in checks {
            table.add([
                check.name, check.relay.map { Quantity.count($0) } ?? "",
                check.simulator.map { Quantity.count($0) } ?? "",
                Quantity.count(check.expected), check.isRight ? "ok" : "WRONG",
            ])
        }
        return table.text
    }

    var json: JSONTree {
        .array(
            checks.map { check in
                .object([
                    "name": .string(check.name), "relay": check.relay.map(JSONTree.integer) ?? .null,
                    "simulator": check.simulator.map(JSONTree.integer) ?? .null,
                    "expected": .integer(check.expected), "ok": .bool(check.isRight),
                ])
            })
    }
}
