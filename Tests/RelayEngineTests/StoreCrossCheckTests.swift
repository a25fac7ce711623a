// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing
import UpgradeRules

@Suite("Two sources of one store")
struct StoreCrossCheckTests {
    /// The versions that both showed after so many hours, and whether a difference is reported.
    private struct Step {
        var hour: Int64
        var lookup: String?
        var exact: String?
        var isReported: Bool
        /// The hour of the last answer, where it is not this step's.
        var lookupAsked: Int64?
        var exactAsked: Int64?
    }

    private static func run(_ steps: [Step]) throws -> [String] {
        var check = StoreCrossCheck()
        var reasons: [String] = []
        for step in steps {
            func time(_ hour: Int64?) -> Timestamp { Timestamp(seconds: 1_784_000_000 + (hour ?? step.hour) * 3600) }
            let shown = try step.lookup.map { try Version($0) }
            let reason = check.update(
                lookup: LookupEvidence(
                    askedAt: time(step.lookupAsked), version: shown, releasedAt: nil, firstShownAt: time(0)),
                exact: AppStoreConnectEvidence(
                    askedAt: time(step.exactAsked),
                    releases: try step.exact.map {
                        [.init(version: try Version($0), state: AppStoreConnectEvidence.Release.live)]
                    } ?? []))
            #expect((reason != nil) == step.isReported, "hour \(step.hour): \(reason ?? "nothing")")
            if let reason { reasons.append(reason) }
        }
        return reasons
    }

    @Test("a lookup that lags is reported after a day, and no more when it has caught up")
    func behind() throws {
        let reasons = try Self.run([
            Step(hour: 0, lookup: "1.9", exact: "1.9.0", isReported: false),
            Step(hour: 1, lookup: "1.9", exact: "2.0", isReported: false),
            Step(hour: 24, lookup: "1.9", exact: "2.0", isReported: false),
            Step(hour: 25, lookup: "1.9", exact: "2.0", isReported: true),
            Step(hour: 30, lookup: "1.9", exact: "2.1", isReported: true),
            Step(hour: 31, lookup: "2.1", exact: "2.1", isReported: false),
            Step(hour: 32, lookup: "2.1", exact: "2.2", isReported: false),
        ])
        #expect(
            reasons.first
                == "App Store Connect says that 2.0 is live, and for more than a day the App Store's lookup has shown 1.9; "
                + "App Store Connect decides. Are `id`, `bundleId` and `country` of `appStore` right?")
    }

    @Test("one that lists no such app is behind too; one that shows more is reported the other way")
    func others() throws {
        _ = try Self.run([
            Step(hour: 0, lookup: nil, exact: "2.0", isReported: false),
            Step(hour: 24, lookup: nil, exact: "2.0", isReported: true),
        ])
        let ahead = try Self.run([
            Step(hour: 0, lookup: "3.0", exact: "2.0", isReported: false),
            Step(hour: 23, lookup: "3.0", exact: "2.0", isReported: false),
            Step(hour: 24, lookup: "3.0", exact: "2.0", isReported: true),
            Step(hour: 25, lookup: "3.0", exact: "3.0", isReported: false),
        ])
        #expect(ahead.first?.contains("has shown 3.0, and App Store Connect 2.0") == true)
        _ = try Self.run([
            Step(hour: 0, lookup: "3.0", exact: nil, isReported: false),
            Step(hour: 24, lookup: "3.0", exact: nil, isReported: true),
            // The other way round: the day begins anew.
            Step(hour: 25, lookup: "3.0", exact: "4.0", isReported: false),
        ])
        _ = try Self.run([Step(hour: 0, lookup: nil, exact: nil, isReported: false)])
    }

    @Test("one that fails is not lagging, and one that moves each day is not either")
    func fair() throws {
        _ = try Self.run([
            Step(hour: 0, lookup: "1.9", exact: "2.0", isReported: false),
            Step(hour: 30, lookup: "1.9", exact: "2.0", isReported: false, lookupAsked: 3),
            Step(hour: 31, lookup: "1.9", exact: "2.0", isReported: false, exactAsked: 3),
            Step(hour: 32, lookup: "1.9", exact: "2.0", isReported: true),
        ])
        _ = try Self.run([
            Step(hour: 0, lookup: "1.0", exact: "2.0", isReported: false),
            Step(hour: 20, lookup: "2.0", exact: "3.0", isReported: false),
            Step(hour: 40, lookup: "3.0", exact: "4.0", isReported: false),
            Step(hour: 60, lookup: "4.0", exact: "5.0", isReported: false),
        ])
        // Without one of the two there is nothing to compare, and nothing is remembered.
        var check = StoreCrossCheck()
        #expect(check.update(lookup: nil, exact: nil) == nil)
    }
}
