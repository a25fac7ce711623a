// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules

@testable import RelayEngine

@Suite("When a version counts as given up")
struct VersionSharesTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private var hour: Duration { VersionShares.interval }

    /// Counts one after the other, an hour apart: devices of 1.0 among a thousand.
    private func follow(_ counts: [Int64], below share: Double = 0.01) throws -> [(VersionShares, told: [String])] {
        var (all, last): ([(VersionShares, told: [String])], VersionShares?) = ([], nil)
        var rules = RetirementRules()
        rules.retireBelow = share
        for (number, old) in counts.enumerated() {
            let found = [(try Version("2.0"), 1000 - old), (try Version("1.0"), old)]
            let (shares, fallen) = VersionShares.counted(
                found.map { (version: $0.0, devices: $0.1) }, unknown: 0, after: last, by: rules,
                at: now + hour * number)
            all.append((shares, fallen.map(\.version.text)))
            last = shares
        }
        return all
    }

    @Test(
        "it falls once, and again only after it rose well above the share",
        arguments: [
            // At the share is not below it.
            ([10, 10, 9, 9], [nil, nil, 2, 2], [2]),
            // Below it when it is first counted: it was not seen to fall.
            ([9, 8, 12, 9], [0, 0, nil, 3], []),
            // Hardly above it, and back: not reported again.
            ([50, 9, 14, 9, 8], [nil, 1, nil, 3, 3], [1]),
            ([50, 9, 15, 9], [nil, 1, nil, 3], [1, 3]),
            ([50, 0, 0, 100, 0], [nil, 1, 1, nil, 4], [1, 4]),
        ] as [([Int64], [Int?], [Int])])
    func falls(counts: [Int64], since: [Int?], told: [Int]) throws {
        let all = try follow(counts)
        for (number, (shares, fallen)) in all.enumerated() {
            let row = try #require(shares.rows.first)
            #expect(row.version.text == "1.0")
            #expect(row.belowSince == since[number].map { now + hour * $0 }, "count \(number)")
            #expect(fallen == (told.contains(number) ? ["1.0"] : []), "count \(number)")
            #expect(shares.newestBelow == (since[number] == nil ? nil : row))
            // The last row has all devices.
            #expect(shares.rows.last?.orOlder == 1000 && shares.rows.last?.belowSince == nil)
        }
    }

    @Test("a version counts with all older ones, and with those that nobody knows")
    func orOlder() throws {
        let counts = try [("3", 900), ("1.1", 4), ("2", 80), ("1.01", 4), ("1", 2)].map {
            (version: try Version($0.0), devices: Int64($0.1))
        }
        let (shares, _) = VersionShares.counted(counts, unknown: 10, after: nil, by: RetirementRules(), at: now)
        #expect(shares.devices == 1000 && shares.unknown == 10)
        #expect(shares.seenSince == now - .seconds(30 * 86_400))
        #expect(shares.rows.map(\.version.text) == ["1", "1.1", "2", "3"], "1.01 is 1.1")
        #expect(shares.rows.map(\.devices) == [2, 8, 80, 900])
        #expect(shares.rows.map(\.orOlder) == [12, 20, 100, 1000])
        #expect(shares.rows.allSatisfy { $0.belowSince == nil })
        #expect(try shares.devices(below: Version("1")) == 10)
        #expect(try shares.devices(below: Version("2.0.0")) == 20)
        #expect(try shares.devices(below: Version("9")) == 1000)
    }

    @Test("while nobody was seen lately nothing changes, and nothing is told")
    func nobody() throws {
        let before = try #require(try follow([50, 20]).last?.0)
        let (shares, fallen) = VersionShares.counted(
            [], unknown: 0, after: before, by: RetirementRules(), at: now + hour * 9)
        #expect(fallen.isEmpty && shares.rows == before.rows)
        #expect(shares.devices == 0 && shares.newestBelow == nil)
        #expect(VersionShares.counted([], unknown: 0, after: nil, by: RetirementRules(), at: now).shares.rows.isEmpty)
        // The version of no device is known.
        let (blind, told) = VersionShares.counted([], unknown: 5, after: before, by: RetirementRules(), at: now)
        #expect(told.isEmpty && blind.rows.allSatisfy { $0.orOlder == 5 && $0.belowSince == nil })
    }

    @Test("what nobody was seen with for long is left out, and so are the oldest of very many")
    func forgotten() throws {
        var last = try #require(try follow([50, 0]).last?.0)
        #expect(last.rows.count == 2)
        let new = [(version: try Version("2.0"), devices: Int64(5))]
        for (days, count) in [(89, 2), (91, 1), (92, 1)] {
            last =
                VersionShares.counted(
                    new, unknown: 0, after: last, by: RetirementRules(), at: now + hour + .seconds(86_400) * days
                ).shares
            #expect(last.rows.count == count, "\(days) days")
        }
        let many = try (0..<1500).map { (version: try Version("1.\($0)"), devices: Int64(1)) }
        let (shares, _) = VersionShares.counted(many, unknown: 0, after: nil, by: RetirementRules(), at: now)
        #expect(shares.rows.count == VersionShares.most)
        #expect(shares.rows.first?.version.text == "1.500" && shares.rows.first?.orOlder == 501)
    }
}
