// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements
import Testing
import UpgradeRules

/// Versions that are not forced before a person has confirmed them.
@Suite struct KnownVersionsTests {
    @Test(
        "Nothing speaks for a leap; what comes next is no leap",
        arguments: [
            // The leaps of typing errors.
            ("2.2.0", "2.20.0", true), ("2.1.1", "2.40.1", true), ("26.3", "26.30", true), ("2", "20", true),
            ("1.9", "3", true), ("0.9", "2", true), ("1.0", "2.99", true), ("2.1.1", "2.1.20", true),
            ("2.1.1", "2.10.0", true), ("2.1.1", "2.2.10", true), ("2.1.1", "3.10", true), ("2.9", "2.90", true),
            ("0", "999999999999999999", true), ("5.4.1203", "5.4.12030", true),
            // Ordinary releases, also after one that never came out.
            ("2.1.1", "2.1.2", false), ("2.1.1", "2.2.0", false), ("2.9", "3.0", false), ("2.9", "2.10", false),
            ("2.1.1", "2.1.3", false), ("2.1.1", "2.2.1", false), ("2.0", "2.5", false), ("2.1.1", "3.2.4", false),
            ("2.1", "2.1.1", false), ("0", "1", false),
            ("2026.12", "2027.1", false), ("5.4.1203", "5.4.1290", false), ("5.4.1203", "5.5.1290", false),
            // Known versions, and older ones.
            ("2.1.1", "2.1.1", false), ("2.1.1", "2.01.1", false), ("2.1.1", "1.0", false), ("3", "2.99", false),
        ])
    func leaps(known: String, asked: String, isDoubted: Bool) throws {
        let (known, asked) = (try Version(known), try Version(asked))
        #expect(KnownVersions().doubts(asked, announced: known) == isDoubted, "announced")
        #expect(KnownVersions(offered: known).doubts(asked, announced: nil) == isDoubted, "offered")
        let seen = SeenVersions(versions: [SeenVersion(version: known, devices: 10)], unknown: 9)
        #expect(KnownVersions(seen: seen).doubts(asked, announced: nil) == isDoubted, "seen")
        #expect(KnownVersions(seen: seen).doubts(asked, announced: .zero) == isDoubted, "the highest counts")
    }

    @Test(
        "What speaks for 30.0.0",
        arguments: [
            // Ten devices together, with it or a newer one, are enough; fewer are not.
            ("2.0", ["30.0.0": 10], false), ("2.0", ["30.0.0": 9], true), ("2.0", ["30.0.0": 4, "31": 6], false),
            ("2.0", ["30.0.0": 9, "29": 1], false), ("2.0", [:], true), ("30.0.0", [:], false),
            // Ten of a thousand are enough, ten of more are not; nor is any number of devices with a number that no release
            // has.
            ("2.0", ["30.0.0": 10, "1.9": 990], false), ("2.0", ["30.0.0": 10, "1.9": 991], true),
            ("2.0", ["30.0.0": 1000, "1.9": 99_000], false), ("2.0", ["9999.0": 500, "1.9": 500], true),
            ("2.0", ["30.2147483647": 500, "1.9": 500], true),
            // Nothing was announced: the middle one of the devices counts, whatever version a single one has.
            (nil, ["1.9": 1000, "999999": 1], true), (nil, ["1.9": 2, "999999": 1], true),
            (nil, ["1.9": 2, "999999": 9], true), (nil, ["29.1": 3], false), (nil, ["1": 1], true),
            // Nothing is known.
            (nil, [:], false),
        ] as [(String?, [String: Int64], Bool)])
    func evidence(announced: String?, seen: [String: Int64], isDoubted: Bool) throws {
        let versions = try seen.map { SeenVersion(version: try Version($0.key), devices: $0.value) }
        let known = KnownVersions(seen: SeenVersions(versions: versions, unknown: 3))
        #expect(try known.doubts(Version("30.0.0"), announced: announced.map { try Version($0) }) == isDoubted)
    }
}
