// SPDX-License-Identifier: Apache-2.0
import APNsSimulator

/// What the demo expects, and whether relay and simulator agree with it and with each other. Pure.
struct DemoLedger: Sendable {
    struct Check: Sendable, Equatable {
        var name: String
        var relay: Int64
        /// By whom the other figure is: "simulator" or "by the book".
        var other: String
        var expected: Int64

        var isRight: Bool { relay == expected }
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

    /// - Parameter campaigns: how many there are in all, although the webhook was sent twice.
    init(
        campaign: CampaignText, plan: JSONValue, campaigns: Int64, expectation: Expectation, figures: Figures,
        reach: Reach
    ) {
        func book(_ name: String, _ relay: Int64, _ expected: Int64) {
            checks.append(Check(name: name, relay: relay, other: "by the book", expected: expected))
        }
        func simulator(_ name: String, _ relay: Int64, _ expected: Int64) {
            checks.append(Check(name: name, relay: relay, other: "simulator", expected: expected))
        }
        let counts = campaign.counts
        let filteredBy = campaign.tree["filteredBy"] ?? .null
        let rejectedBy = campaign.tree["rejectedBy"] ?? .null
        book("audience", campaign.audience, expectation.audience)
        book("sum of all outcomes", CampaignText.countNames.reduce(0) { $0 + counts.count($1) }, expectation.audience)
        book("dry run: would be pushed", plan.count("toPush"), expectation.pushed)
        book("accepted", counts.count("accepted"), expectation.accepted)
        simulator("accepted, by apns-id", counts.count("accepted"), figures.distinctIDs)
        simulator("accepted, by device", counts.count("accepted"), figures.distinctTokens)
        book("unregistered (410)", counts.count("unregistered"), expectation.unregistered)
        simulator("unregistered (410)", counts.count("unregistered"), figures.rejectedBy["Unregistered"] ?? 0)
        book("rejected, BadDeviceToken", rejectedBy.count("BadDeviceToken"), expectation.rejected)
        simulator(
            "rejected, BadDeviceToken", rejectedBy.count("BadDeviceToken"), figures.rejectedBy["BadDeviceToken"] ?? 0)
        book("rejected", counts.count("rejected"), rejectedBy.count("BadDeviceToken"))
        simulator(
            "asked to wait (429), then accepted", expectation.acceptedLater, figures.rejectedBy["TooManyRequests"] ?? 0)
        book("filtered, no telephone", filteredBy.count("noTelephone"), expectation.noTelephone)
        book("filtered, already current", filteredBy.count("alreadyCurrent"), expectation.alreadyCurrent)
        book("filtered", counts.count("filtered"), expectation.noTelephone + expectation.alreadyCurrent)
        book("pushed who should not be", reach.pushedInError, 0)
        book("left out who should be pushed", reach.leftOut, 0)
        book("campaigns, the webhook sent twice", campaigns, 1)
    }

    var table: String {
        var table = TextTable([
            .init("FIGURE"), .init("RELAY", .right), .init("MUST BE", .right), .init("ACCORDING TO"), .init(""),
        ])
        for check in checks {
            table.add([
                check.name, Quantity.count(check.relay), Quantity.count(check.expected), check.other,
                check.isRight ? "ok" : "WRONG",
            ])
        }
        return table.text
    }

    var json: JSONValue {
        .array(
            checks.map { check in
                .object([
                    "name": .string(check.name), "relay": .integer(check.relay), "expected": .integer(check.expected),
                    "accordingTo": .string(check.other), "ok": .bool(check.isRight),
                ])
            })
    }
}
