// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@testable import Configuration

@Suite struct PaceConfigurationTests {
    private static func parse(_ pace: String) throws -> PaceConfiguration {
        let text = "{ apps: { a: { android: { pace: \(pace) } } } }"
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "test")
        return try #require(configuration.apps.first { $0.key == AppKey(app: "a", platform: .android) }).pace
    }

    @Test func `Nothing holds the pace by default`() throws {
        #expect(try Self.parse("{}") == PaceConfiguration())
        #expect(try Self.parse("{ ratePerSecond: null, waves: null, betweenWaves: {} }") == PaceConfiguration())
    }

    @Test func `All of it can be set`() throws {
        let pace = try Self.parse(
            """
            { ratePerSecond: 0.5, rampUp: { from: 2.5, over: "1h" }, waves: [0.25, 10, 100],
              betweenWaves: { pause: "30m", approval: true, maxFailedPercent: 5 } }
            """)
        #expect(pace.pace == Pace(ratePerSecond: 0.5, rampUp: .init(from: 0.025, over: .seconds(3_600))))
        #expect(pace.waves?.ends == [25, 1_000, 10_000])
        #expect(pace.waveRules == WaveRules(pause: .seconds(1_800), needsApproval: true, failedShare: 0.05))
    }

    @Test func `Waves have a pause between them unless an operator is asked`() throws {
        #expect(try Self.parse("{ waves: [1, 100] }").waveRules == WaveRules(pause: .seconds(600)))
        #expect(
            try Self.parse("{ waves: [1, 100], betweenWaves: { approval: true } }").waveRules
                == WaveRules(pause: .zero, needsApproval: true))
        #expect(
            try Self.parse(#"{ ratePerSecond: 7, rampUp: { } }"#).pace
                == Pace(ratePerSecond: 7, rampUp: .init(from: 0.1, over: .seconds(600))))
    }

    @Test func `Hours are of a zone, also over midnight and to the end of the day`() throws {
        let day = try #require(Self.parse(#"{ hours: { from: "08:00", to: "22:00", zone: "Asia/Shanghai" } }"#).hours)
        #expect("\(day)" == "08:00 to 22:00 Asia/Shanghai" && day.closed == .seconds(10 * 3_600))
        let night = try #require(Self.parse(#"{ hours: { from: "22:00", to: "06:30", zone: "UTC" } }"#).hours)
        #expect("\(night)" == "22:00 to 06:30 UTC" && night.closed == .seconds(15 * 3_600 + 1_800))
        let late = try #require(Self.parse(#"{ hours: { from: "08:00", to: "24:00", zone: "UTC" } }"#).hours)
        #expect("\(late)" == "08:00 to 00:00 UTC" && late.closed == .seconds(8 * 3_600))
        #expect(try Self.parse("{ hours: null }").hours == nil)
    }

    @Test(arguments: [("12h", false), ("13h", true)])
    func `A time to live is longer than a night`(life: String, isTaken: Bool) throws {
        let app =
            #"{ android: { push: { timeToLive: "\#(life)" }, fcm: null, "#
            + #"pace: { hours: { from: "08:00", to: "22:00", zone: "Asia/Shanghai" } } } }"#
        do {
            _ = try ConfigurationFile.parse(Array(#"{ apps: { "a": \#(app) } }"#.utf8), path: "test")
            #expect(isTaken)
        } catch {
            #expect(!isTaken)
            #expect(
                error.faults.map(\.description) == [
                    #"apps["a"].android.pace.hours: nothing begins for 10h of each day, and push.timeToLive is 12h: "#
                        + "a campaign could end in its first night; give it 13h or more"
                ])
        }
    }

    @Test(arguments: [
        ("{ ratePerSecond: 0 }", "ratePerSecond: 0 is not a rate; a number from 0.01 to 1000000"),
        ("{ ratePerSecond: -1 }", "ratePerSecond: -1 is not a rate; a number from 0.01 to 1000000"),
        (#"{ ratePerSecond: "fast" }"#, #"ratePerSecond: "fast" is not a rate; a number from 0.01 to 1000000"#),
        (
            "{ ratePerSecond: 5, rampUp: { from: 0 } }",
            "rampUp.from: 0 is not a percentage of the rate; a number from 1 to 100"
        ),
        (
            #"{ ratePerSecond: 5, rampUp: { over: "1ms" } }"#, #"rampUp.over: "1ms" is out of range; from 1s to 7d"#
        ),
        ("{ rampUp: { } }", "rampUp: needs a ratePerSecond that it leads to"),
        ("{ waves: [] }", "waves: has 0 waves; 1 to 20, or leave it out"),
        ("{ waves: 10 }", "waves: 10 is not a list"),
        ("{ waves: [1, 50] }", "waves: ends at 50; the last is 100, the whole audience"),
        (
            "{ waves: [10, 10, 100] }",
            "waves[1]: 10 does not rise; each percentage is of the whole audience, those before included"
        ),
        (
            "{ waves: [0.001, 100] }",
            "waves[0]: 0.001 is not a percentage; a number from 0.01 to 100, two decimals at most"
        ),
        (
            "{ waves: [1, 101] }", "waves[1]: 101 is not a percentage; a number from 0.01 to 100, two decimals at most"
        ),
        (
            #"{ waves: ["1", 100] }"#,
            #"waves[0]: "1" is not a percentage; a number from 0.01 to 100, two decimals at most"#
        ),
        (
            "{ waves: [1, 100], betweenWaves: { maxFailedPercent: 101 } }",
            "betweenWaves.maxFailedPercent: 101 is not a percentage of a wave's pushes; a number from 0 to 100"
        ),
        (
            #"{ waves: [1, 100], betweenWaves: { pause: "31d" } }"#,
            #"betweenWaves.pause: "31d" is out of range; from 0 to 30d"#
        ),
        (
            #"{ waves: [1, 10, 100], betweenWaves: { pause: "84h" } }"#,
            "betweenWaves.pause: 3d12h between 3 waves leave nothing of push.timeToLive, 7d"
        ),
        (
            #"{ betweenWaves: { pause: "5m" } }"#,
            "betweenWaves: needs waves; a list of percentages such as [1, 10, 100]"
        ),
        (
            #"{ hours: { from: "8:00", to: "22:00", zone: "UTC" } }"#,
            #"hours.from: "8:00" is no time of day; give one such as "08:00", from "00:00" to "23:59""#
        ),
        (
            #"{ hours: { from: "08:00", to: "24:01", zone: "UTC" } }"#,
            #"hours.to: "24:01" is no time of day; give one such as "08:00", from "00:00" to "23:59""#
        ),
        (
            #"{ hours: { from: "08:00", to: "22:00", zone: "GMT+8" } }"#,
            #"hours.zone: "GMT+8" is no zone of the tz database; give one such as "Asia/Shanghai" or "Europe/Berlin""#
        ),
        (
            #"{ hours: { from: "08:00", to: "22:00" } }"#, #"hours.zone: is missing; give one such as "Asia/Shanghai""#
        ),
        (
            #"{ hours: { from: "08:00", to: "08:00", zone: "UTC" } }"#,
            #"hours.to: "08:00" is from, too; give another time, or leave hours out where pushes may go out at any time"#
        ),
        (
            #"{ hours: { from: "00:00", to: "24:00", zone: "UTC" } }"#,
            #"hours.to: "00:00" is from, too; give another time, or leave hours out where pushes may go out at any time"#
        ),
        (#"{ hours: "08:00-22:00" }"#, #"hours: "08:00-22:00" is not an object { … }"#),
        ("{ rate: 5 }", "rate: unknown key; did you mean waves?"),
    ])
    func `A fault names its field`(pace: String, fault: String) {
        do {
            _ = try Self.parse(pace)
            Issue.record("taken")
        } catch {
            let faults = (error as? ConfigurationError)?.faults.map(\.description)
            if pace.contains("rate:") {
                #expect(faults?.first?.hasPrefix(#"apps["a"].android.pace.rate: unknown key"#) == true)
            } else {
                #expect(faults == [#"apps["a"].android.pace."# + fault])
            }
        }
    }
}
