// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

@testable import RelayAPI

@Suite("What the open check tells and believes, live", .ownThread)
struct CheckTrustTests {
    static let device = "\(ResourceLiveTests.devices)/abcd01"

    static func bench(_ trust: CheckTrust = .device) throws -> Bench {
        let bench = try Bench(checkTrust: trust)
        _ = try bench.ask("PUT", device, #"{"telephone":"138","version":"1.9","environment":"sandbox"}"#)
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","latest":"2.1"}"#)
        return bench
    }

    static func version(_ bench: Bench) throws -> String? {
        try bench.store.device(Bench.app, token: "abcd01")?.registration.version?.text
    }

    @Test("known and unknown tokens and telephones are answered byte for byte alike, headers too")
    func noOracle() throws {
        let bench = try Self.bench()
        func shape(_ query: String) throws -> [String] {
            let answer = try bench.askNetwork("GET", CheckLiveTests.path("1.9", more: query))
            return [answer.body, "\(answer.status)"]
                + ["etag", "cache-control", "content-type", "content-length"].map { answer[header: $0] ?? "none" }
        }
        let known = try shape("&telephone=138&token=abcd01")
        for other in [
            "&telephone=139&token=abcd01", "&telephone=138&token=abcd02", "&telephone=&token=zz", "&token=abcd01",
        ] {
            #expect(try shape(other) == known, "\(other)")
        }
    }

    @Test("where nothing is announced yet, a device is not believed what leaps over all others")
    func leap() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", Self.device, #"{"telephone":"138","version":"1.9"}"#)
        // The versions that other devices run are read again at each change of a version, and each minute.
        _ = try bench.ask("PUT", "/v1/apps/com.example.app/android/version", #"{"latest":"1"}"#)
        for lie in ["999999.0", "30.0.0", "1.20"] {
            _ = try bench.askNetwork("GET", CheckLiveTests.path(lie, more: "&token=abcd01"))
        }
        #expect(try SightingProbe(bench).version() == "1.9")
        _ = try bench.askNetwork("GET", CheckLiveTests.path("2.0", more: "&token=abcd01"))
        bench.server.stop()
        #expect(try Self.version(bench) == "2.0")
    }

    @Test("who is on the list of a canary is told to that user's own device, and to callers with an API token")
    func canary() throws {
        let bench = try Self.bench()
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd02", #"{"telephone":"139","version":"1.9"}"#)
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.1","telephones":["138"]}"#)
        func needUpgrade(_ query: String, _ headers: [(String, String)] = []) throws -> String? {
            try bench.askNetwork("GET", CheckLiveTests.path("2.0", more: query), headers: headers)
                .text("body", "needUpgrade")
        }
        #expect(try needUpgrade("&telephone=138&token=ABCD01") == "1", "its own device")
        for stranger in [
            "&telephone=138", "&telephone=138&token=abcd02", "&telephone=138&token=abcd03",
            "&telephone=139&token=abcd02", "&token=abcd01",
        ] {
            #expect(try needUpgrade(stranger) == "0", "\(stranger)")
        }
        let vouched = [("Authorization", "Bearer \(try bench.newToken(.devices))")]
        #expect(try needUpgrade("&telephone=138", vouched) == "1")
        #expect(try needUpgrade("&telephone=139", vouched) == "0")
        let other = [("Authorization", "Bearer \(try bench.newToken(.status))")]
        #expect(try needUpgrade("&telephone=138", other) == "0")
    }

    @Test("the LaunchGate document is the same whoever asks, and names no device and no telephone")
    func document() throws {
        let bench = try Self.bench()
        let path = "/v1/apps/com.example.app/launchgate.json"
        let answer = try bench.askNetwork("GET", path)
        #expect(!answer.body.contains("138") && !answer.body.contains("abcd"))
        #expect(try bench.askNetwork("GET", path + "?telephone=138").status == 422)
        let token = try bench.newToken(.devices)
        #expect(
            try bench.askNetwork("GET", path, headers: [("Authorization", "Bearer \(token)")]).bytes == answer.bytes)
    }

    @Test("a version that nobody has published is not believed; one that is, is, and the next login corrects it")
    func credible() throws {
        let bench = try Self.bench()
        for lie in ["99", "2.1.1"] {
            #expect(
                try bench.askNetwork("GET", CheckLiveTests.path(lie, more: "&token=abcd01&telephone=777")).status == 200
            )
        }
        #expect(try SightingProbe(bench).version() == "1.9")
        let path = CheckLiveTests.path("2.0", more: "&token=abcd01&telephone=777")
        #expect(try bench.askNetwork("GET", path).status == 200)
        // The request alone decides what is forced at login.
        let honest = try bench.askNetwork("GET", CheckLiveTests.path("1.9", more: "&token=abcd01"))
        #expect(honest.text("body", "needUpgrade") == "1")
        bench.server.stop()
        #expect(try Self.version(bench) == "1.9")
        let record = try #require(try bench.store.device(Bench.app, token: "abcd01")).registration
        #expect(record.telephone == "138")
        #expect(record.environment == .sandbox)
    }

    @Test("where only the authorised are believed, a token of the scope devices is what it takes")
    func authorized() throws {
        let bench = try Self.bench(.authorized)
        let wrong = try bench.newToken(.status)
        let path = CheckLiveTests.path("2.0", more: "&token=abcd01")
        for headers in [[], [("Authorization", "Bearer \(wrong)")], [("Authorization", "Bearer x")]] {
            #expect(try bench.askNetwork("GET", path, headers: headers).status == 200)
        }
        let queued = SightingProbe(bench)
        #expect(try queued.version() == "1.9")
        let right = try bench.newToken(.devices)
        #expect(try bench.askNetwork("GET", path, headers: [("Authorization", "Bearer \(right)")]).status == 200)
        bench.server.stop()
        #expect(try Self.version(bench) == "2.0")
    }

    /// Reads the stored version once every earlier sighting has been stored.
    struct SightingProbe {
        let bench: Bench

        init(_ bench: Bench) { self.bench = bench }

        func version() throws -> String? {
            // A second device whose sighting is trusted: once it is stored, every earlier one has been, too.
            _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd09", #"{"version":"1.0"}"#)
            _ = try bench.ask("GET", CheckLiveTests.path("1.5", more: "&token=abcd09"))
            try bench.until {
                try bench.store.device(Bench.app, token: "abcd09")?.registration.version?.text == "1.5"
            }
            return try CheckTrustTests.version(bench)
        }
    }
}
