// SPDX-License-Identifier: Apache-2.0
import ClientCommands
import PushSimulator
import RelayEngine
import Terminal
import WireFormat

/// The demo's expected figures, and whether relay and simulator agree with them and with each other. Pure.
struct DemoLedger: Sendable {
    /// One figure from up to three sources; nil where a source does not have it.
    struct Check: Sendable, Equatable {
        var name: String
        var relay: Int64?
        var simulator: Int64?
        /// Counted from the devices themselves.
        var expected: Int64
        /// Whether a relay was killed: pushes that were in flight then are sent again, with the same id.
        var mayRepeat: Bool

        init(
            _ name: String, relay: Int64? = nil, simulator: Int? = nil, expected: Int64, mayRepeat: Bool = false
        ) {
            (self.name, self.relay, self.simulator) = (name, relay, simulator.map(Int64.init))
            (self.expected, self.mayRepeat) = (expected, mayRepeat)
        }

        var isRight: Bool {
            let seen = simulator ?? expected
            return (relay ?? expected) == expected && (mayRepeat ? seen >= expected : seen == expected)
        }
    }

    /// The devices by their expected outcome, counted without asking the relay.
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

    /// Devices that were pushed in error, and devices that were left out, by the simulator's own record.
    struct Reach: Sendable, Equatable {
        var pushedInError = 0
        var leftOut = 0

        /// The required result: none of either.
        init() {}

        /// - Parameter others: devices of other platforms, which must not be pushed through this simulator.
        init(_ population: DemoPopulation, others: [DemoPopulation] = [], _ accepted: AcceptedPushes) {
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
            for other in others {
                for number in 0..<other.count {
                    pushedInError += accepted.count(ofToken: other.device(number).token) > 0 ? 1 : 0
                }
            }
        }
    }

    private(set) var checks: [Check] = []

    var addsUp: Bool { checks.allSatisfy(\.isRight) }

    /// - Parameters:
    ///   - wouldBePushed: the number of pushes in the dry run.
    ///   - campaigns: the number of the platform's campaigns, after the webhook was sent twice.
    ///   - isInterrupted: whether a relay was killed during the campaign.
    init(
        _ platform: DemoPlatform, campaign: CampaignText, wouldBePushed: Int64, campaigns: Int64,
        expectation: Expectation, figures: SimulatorFigures, reach: Reach, isInterrupted: Bool = false
    ) {
        let filtered = expectation.noTelephone + expectation.alreadyCurrent
        func add(_ name: String, relay: Int64? = nil, simulator: Int? = nil, expected: Int64) {
            checks.append(Check(name, relay: relay, simulator: simulator, expected: expected))
        }
        add("audience", relay: campaign.audience, expected: expectation.audience)
        add("sum of all outcomes", relay: campaign.sum, expected: expectation.audience)
        add("dry run: would be pushed", relay: wouldBePushed, expected: expectation.pushed)
        add(
            platform.service.idCheck, relay: campaign.count(.accepted), simulator: figures.distinctIDs,
            expected: expectation.accepted)
        add("accepted, by device", simulator: figures.distinctTokens, expected: expectation.accepted)
        checks += platform.service.checks(campaign, figures, expectation, mayRepeat: isInterrupted)
        add(
            "filtered: no phone number", relay: campaign.count("noTelephone", of: .filteredBy),
            expected: expectation.noTelephone)
        add(
            "filtered: already current", relay: campaign.count("alreadyCurrent", of: .filteredBy),
            expected: expectation.alreadyCurrent)
        add("filtered, for any reason", relay: campaign.count(.filtered), expected: filtered)
        add("pushed, and should not be", simulator: reach.pushedInError, expected: 0)
        add("left out, and should be pushed", simulator: reach.leftOut, expected: 0)
        add("campaigns, the webhook sent twice", relay: campaigns, expected: 1)
    }

    var table: String {
        var table = TextTable(["FIGURE", .right("RELAY"), .right("SIMULATOR"), .right("MUST BE"), ""])
        for check in checks {
            table.add([
                check.name, check.relay.map { Quantity.count($0) } ?? "",
                check.simulator.map { Quantity.count($0) } ?? "",
                Quantity.count(check.expected), check.isRight ? "ok" : "WRONG",
            ])
        }
        return table.text
    }

    var json: JSONValue {
        .array(
            checks.map { check in
                [
                    "name": .string(check.name), "relay": check.relay.map { .integer($0) } ?? .null,
                    "simulator": check.simulator.map { .integer($0) } ?? .null,
                    "expected": .integer(check.expected), "ok": .bool(check.isRight),
                ]
            })
    }
}

extension CampaignText {
    /// The campaign's count of a reason.
    func count(_ reason: String, of field: Field) -> Int64 { json[field]?[reason]?.integer ?? 0 }
}

extension SimulatorFigures {
    /// The number of refusals for a reason.
    func refusals(_ reason: String) -> Int { rejectedBy[reason] ?? 0 }
}
