// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Synchronization
import Testing
import UpgradeRules
import VersionSources

@Suite("The check at login, live", .ownThread)
struct CheckLiveTests {
    static func path(_ version: String, platform: String = "ios", more: String = "") -> String {
        "/v1/check?app=com.example.app&platform=\(platform)&version=\(version)\(more)"
    }

    @Test(
        "it answers strings, in the three states of the client",
        arguments: [("1.9", "1", "1"), ("2.0", "1", "0"), ("2.00.1", "1", "0"), ("2.1", "0", "0"), ("10", "0", "0")])
    func states(version: String, hasNewVersion: String, needUpgrade: String) throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","latest":"2.1","message":"Now"}"#)
        let answer = try bench.askNetwork("GET", Self.path(version))
        #expect(answer.status == 200)
        #expect(answer.text("body", "hasNewVersion") == hasNewVersion)
        #expect(answer.text("body", "needUpgrade") == needUpgrade)
        #expect(answer.text("body", "downloadUrl") == "https://example.com/app")
        #expect(answer.text("body", "latest") == "2.1")
        #expect(answer.text("body", "required") == "2.0")
        #expect(answer.text("body", "message") == "Now")
        #expect(answer[header: "content-type"] == "application/json")
    }

    @Test("an app of which nothing is stored has nothing to do, and nothing is null")
    func nothingStored() throws {
        let answer = try Bench().askNetwork("GET", Self.path("1.0"))
        #expect(
            answer.body
                == #"{"body":{"hasNewVersion":"0","needUpgrade":"0","downloadUrl":"https://example.com/app"}}"#)
    }

    @Test("the record's own URL goes before the configuration's")
    func url() throws {
        let bench = try Bench()
        _ = try bench.ask(
            "PUT", ResourceLiveTests.version, #"{"required":"2.0","downloadUrl":"https://example.com/2"}"#)
        #expect(try bench.askNetwork("GET", Self.path("1")).text("body", "downloadUrl") == "https://example.com/2")
    }

    @Test("what is unknown or wrong is told, and nothing needs a right")
    func faults() throws {
        let bench = try Bench()
        #expect(try bench.askNetwork("GET", "/v1/check?app=other&platform=ios&version=1").status == 404)
        for query in [
            "", "?app=com.example.app&platform=ios", "?app=com.example.app&platform=ios&version=1.x",
            "?app=com.example.app&platform=windows&version=1", "?app=com.example.app&platform=ios&version=1&x=1",
        ] {
            let answer = try bench.askNetwork("GET", "/v1/check\(query)")
            #expect(answer.status == 422, "\(query)")
            #expect(answer.count("errors") ?? 0 > 0)
        }
        #expect(try bench.askNetwork("POST", Self.path("1"), []).status == 405)
        #expect(try bench.askNetwork("HEAD", Self.path("1")).status == 200)
    }

    @Test("a client that has the answer gets 304, until the answer changes")
    func conditional() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0"}"#)
        let first = try bench.askNetwork("GET", Self.path("1.9"))
        let tag = try #require(first[header: "etag"])
        #expect(first[header: "cache-control"] == "no-cache")
        for header in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let again = try bench.askNetwork("GET", Self.path("1.9"), headers: [("If-None-Match", header)])
            #expect(again.status == 304, "\(header)")
            #expect(again.bytes.isEmpty)
            #expect(again[header: "etag"] == tag)
        }
        #expect(try bench.askNetwork("GET", Self.path("2.0"), headers: [("If-None-Match", tag)]).status == 200)
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.1"}"#)
        #expect(try bench.askNetwork("GET", Self.path("1.9"), headers: [("If-None-Match", tag)]).status == 200)
        let own = try bench.askNetwork("GET", Self.path("1.9", more: "&telephone=1"))
        #expect(own[header: "cache-control"] == "private, no-cache")
    }

    @Test("a canary's requirement changes nothing for everyone else")
    func audience() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","telephones":["+86 138"]}"#)
        let vouched = [("Authorization", "Bearer \(try bench.newToken(.devices))")]
        for (telephone, needUpgrade) in [("%2B86%20138", "1"), ("138", "0"), ("", "0")] {
            let answer = try bench.askNetwork(
                "GET", Self.path("1.9", more: "&telephone=\(telephone)"), headers: vouched)
            #expect(answer.text("body", "hasNewVersion") == needUpgrade)
            #expect(answer.text("body", "needUpgrade") == needUpgrade, "\(telephone)")
        }
        #expect(try bench.askNetwork("GET", Self.path("1.9")).text("body", "needUpgrade") == "0")
    }

    @Test("a known token's version is refreshed, nothing else of it, and nobody is registered by asking")
    func sightings() throws {
        let bench = try Bench()
        let device = "\(ResourceLiveTests.devices)/abcd01"
        _ = try bench.ask("PUT", device, #"{"telephone":"138","version":"1.9","environment":"sandbox"}"#)
        for query in ["&token=ABCD01&telephone=999", "&token=abcd02", "&token=nothex"] {
            #expect(try bench.askNetwork("GET", Self.path("2.0", more: query)).status == 200)
        }
        try bench.until { try bench.ask("GET", device).text("version") == "2.0" }
        let after = try bench.ask("GET", device)
        #expect(after.text("telephone") == "138")
        #expect(after.text("environment") == "sandbox")
        #expect(try bench.ask("GET", "\(ResourceLiveTests.devices)/abcd02").status == 404)
    }

    @Test("what waits when the server stops is stored")
    func stopping() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/abcd01", #"{"version":"1.9"}"#)
        _ = try bench.askNetwork("GET", Self.path("2.0", more: "&token=abcd01"))
        bench.server.stop()
        #expect(try bench.store.device(Bench.app, token: "abcd01")?.registration.version?.text == "2.0")
    }

    @Test("a login that names its system keeps it up to date, also where the store refuses at first")
    func systems() throws {
        let bench = try Bench()
        let queue = SightingQueue(store: bench.store, limit: 10, clock: { Bench.now })
        let token = "abcd01"
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/\(token)", #"{"version":"1.9","osVersion":"17.0"}"#)
        func note(_ system: String?) throws {
            queue.note(
                Sighting(
                    app: Bench.app, token: token, version: try Version("2.0"),
                    system: try system.map { try Version($0) }))
        }
        try note("17.1")
        // The same phone again within the second, without its system's version.
        try note(nil)
        queue.flush()
        let device = try bench.store.device(Bench.app, token: token)
        #expect(device?.registration.osVersion?.text == "17.1")
        #expect(device?.seenAt == Bench.now)
    }

    @Test("the queue has an end: what there is no room for is dropped and counted")
    func bounded() throws {
        let bench = try Bench()
        let queue = SightingQueue(store: bench.store, limit: 2, clock: { Bench.now })
        let version = try Version("2.0")
        for token in ["aa01", "aa02", "aa03", "aa02"] {
            queue.note(Sighting(app: Bench.app, token: token, version: version))
        }
        #expect(queue.dropped == 1)
    }

    @Test("without its thread the queue stores when it is told, in the order in which devices were seen")
    func ordered() throws {
        let store = Refusing()
        let queue = SightingQueue(store: store, limit: 100, clock: { Bench.now })
        func note(_ tokens: [String]) throws {
            for token in tokens { queue.note(Sighting(app: Bench.app, token: token, version: try Version("2.0"))) }
        }
        let first = (0..<20).map { "aa\(10 + $0)" }
        try note(first + ["aa15"])
        store.refuses.withLock { $0 = true }
        queue.flush()
        try note(["bb01", "aa12"])
        store.refuses.withLock { $0 = false }
        queue.flush()
        queue.flush()
        #expect(store.seen.withLock { $0 } == [first + ["bb01"]])
    }

    /// Keeps the tokens of the sightings that it takes; throws while `refuses` is set.
    private final class Refusing: SightingStore {
        let refuses = Mutex(false)
        let seen = Mutex<[[String]]>([])

        func sawVersions(_ sightings: [Sighting], at now: Timestamp) throws -> Int {
            if refuses.withLock({ $0 }) { throw StoreError(.failed, context: "no") }
            seen.withLock { $0.append(sightings.map(\.token)) }
            return 0
        }

        func seenVersions(of app: AppKey) -> SeenVersions { SeenVersions() }
        func seenVersions() -> [AppKey: SeenVersions] { [:] }
        func seenCountries(of app: AppKey) -> AudienceCountries { AudienceCountries() }
    }
}
