// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Glibc
import HTTPServer
import OwnThread
import RelayAPI
import RelayEngine
import RelayStore
import StoreConformance
import Synchronization
import TestPeers
import Testing
import Threading
import UpgradeRules
import VersionSources
import WireFormat

@Suite("The LaunchGate document and alerts, live", .ownThread)
struct LaunchGateLiveTests {
    static let document = "/v1/apps/com.example.app/launchgate.json"
    static let alert = "/v1/apps/com.example.app/ios/alert"

    @Test("it has both sections, follows the version store, and is not sent twice")
    func document() throws {
        let bench = try Bench()
        let empty = try bench.askNetwork("GET", Self.document)
        #expect(empty.body == #"{"ios":{},"android":{}}"#)
        _ = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"2.0","latest":"2.1","message":"Now"}"#)
        _ = try bench.ask(
            "PUT", "/v1/apps/com.example.app/android/version", #"{"required":"7.0.3","builds":{"required":703}}"#)
        let answer = try bench.askNetwork("GET", Self.document)
        #expect(
            answer.body
                == #"{"ios":{"requiredUpdate":{"minimumVersion":"2.0","message":"Now"},"#
                + #""optionalUpdate":{"optionalVersion":"2.1","message":"Now"}},"#
                + #""android":{"requiredUpdate":{"minimumVersion":"703","message":"Upgrade"}}}"#)
        let tag = try #require(answer[header: "etag"])
        #expect(try bench.askNetwork("GET", Self.document, headers: [("If-None-Match", tag)]).status == 304)
        #expect(try bench.askNetwork("GET", "/v1/apps/other/launchgate.json").status == 404)
    }

    @Test("version codes are read, shown, refused when they are none, and only rise")
    func builds() throws {
        let bench = try Bench()
        let path = "/v1/apps/com.example.app/android/version"
        let set = try bench.ask("PUT", path, #"{"required":"1.9","builds":{"required":190,"latest":210}}"#)
        #expect(set.status == 202)
        #expect(set.number("version", "builds", "required") == "190")
        #expect(try bench.ask("GET", path).number("builds", "latest") == "210")
        #expect(try bench.ask("PUT", path, #"{"builds":{"required":100}}"#).status == 409)
        for body in [
            #"{"builds":7}"#, #"{"builds":{"required":"7"}}"#, #"{"builds":{"required":0}}"#,
            #"{"builds":{"required":7.5}}"#, #"{"builds":{"required":3000000000}}"#, #"{"builds":{"other":1}}"#,
        ] {
            #expect(try bench.ask("PUT", path, body).status == 422, "\(body)")
        }
    }

    @Test("a requirement without a code takes the code before it out of the document; plan and bump say so")
    func noCode() throws {
        let bench = try Bench()
        let path = "/v1/apps/com.example.app/android"
        func minimum() throws -> String? {
            try bench.askNetwork("GET", Self.document).text("android", "requiredUpdate", "minimumVersion")
        }
        _ = try bench.ask("PUT", "\(path)/version", #"{"required":"2.1.0","builds":{"required":210}}"#)
        #expect(try minimum() == "210")
        for (method, route) in [("POST", "plan"), ("PUT", "version")] {
            let answer = try bench.ask(method, "\(path)/\(route)", #"{"required":"2.1.3"}"#)
            #expect(answer.text("warnings", "0")?.contains("none is known for 2.1.3") == true, "\(answer.body)")
        }
        #expect(try minimum() == nil, "210 is the code of another version")
        let answer = try bench.ask("PUT", "\(path)/version", #"{"required":"2.1.3","builds":{"required":213}}"#)
        #expect(try answer.count("warnings") == 0 && minimum() == "213")
    }

    @Test("a bump and a plan name phone numbers of a canary that no device has; a webhook counts them")
    func unknownCanary() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/aa01", #"{"telephone":"138","version":"1.8"}"#)
        let body = #"{"required":"1.9","telephones":["138","139","137"]}"#
        let named = "of the canary's phone numbers no device of com.example.app ios has 139, 137"
        let plan = try bench.ask("POST", "/v1/apps/com.example.app/ios/plan", body)
        #expect(plan.text("warnings", "0") == named)
        let bump = try bench.ask("PUT", ResourceLiveTests.version, body)
        #expect(bump.status == 202 && bump.text("warnings", "0") == named, "\(bump.body)")
        let known = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"1.9","telephones":["138"]}"#)
        #expect(known.status == 200 && !known.body.contains("phone numbers no device"), "\(known.body)")
        let hook = try bench.webhook(
            #"{"app":"com.example.app","platform":"ios","required":"1.10","telephones":["138","139","137"]}"#)
        #expect(hook.text("warnings", "0")?.hasSuffix("has 2 of them") == true, "\(hook.body)")
    }

    @Test("a bump and a plan warn of whom LaunchGate would lock out")
    func warnings() throws {
        let bench = try Bench()
        for (token, version) in [("aa01", "1.8"), ("aa02", "1.10")] {
            _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/\(token)", "{\"version\":\"\(version)\"}")
        }
        func plan() throws -> Int? {
            try bench.ask("POST", "/v1/apps/com.example.app/ios/plan", #"{"required":"1.9"}"#).count("warnings")
        }
        #expect(try plan() == 0, "no app asks for the document")
        _ = try bench.askNetwork("GET", Self.document)
        #expect(try plan() == 2)
        let bump = try bench.ask("PUT", ResourceLiveTests.version, #"{"required":"1.9"}"#)
        #expect(bump.status == 202)
        #expect(bump.text("warnings", "0")?.contains("would lock out 1.10 (1 device)") == true)
        #expect(bump.text("warnings", "1")?.contains("lets 1.8 (1 device) pass") == true)
        #expect(
            try bench.askNetwork("GET", Self.document).text("ios", "requiredUpdate", "minimumVersion") == "1.10")
        // Devices that register later count, too, while the document is asked for.
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/aa03", #"{"version":"1.11"}"#)
        _ = try bench.ask("PUT", "\(ResourceLiveTests.devices)/aa02", #"{"version":"1.9"}"#)
        try bench.until {
            try bench.askNetwork("GET", Self.document).text("ios", "requiredUpdate", "minimumVersion") == "1.11"
        }
    }

    @Test("an alert is set, shown and cleared; who blocks says until when")
    func alerts() throws {
        let bench = try Bench()
        #expect(try bench.ask("GET", Self.alert).status == 404)
        #expect(try bench.ask("DELETE", Self.alert).status == 404)
        for body in [
            #"{"message":"m","blocking":true}"#, #"{"blocking":false}"#, #"{"message":"m","blocking":"yes"}"#,
            #"{"message":"","endsAt":"2023-11-14T23:00:00Z"}"#, #"{"message":"m","endsAt":"tomorrow"}"#,
            #"{"message":"m","blocking":true,"endsAt":"2023-11-14T22:13:20Z"}"#, #"{"message":"m","x":1}"#,
        ] {
            #expect(try bench.ask("PUT", Self.alert, body).status == 422, "\(body)")
        }
        let set = try bench.ask(
            "PUT", Self.alert, #"{"message":"Back at 6","blocking":true,"endsAt":"2023-11-14T22:13:20.000Z"}"#)
        #expect(set.status == 422, "that is now")
        let good = try bench.ask(
            "PUT", Self.alert, #"{"message":"Back at 6","blocking":true,"endsAt":"2023-11-14T22:13:21Z"}"#)
        #expect(good.status == 200)
        #expect(good.text("endsAt") == "2023-11-14T22:13:21.000Z")
        #expect(try bench.ask("GET", Self.alert).text("createdBy") == SystemUser.shown(geteuid()))
        #expect(
            try bench.askNetwork("GET", Self.document).body
                == #"{"ios":{"alert":{"message":"Back at 6","blocking":true}},"android":{}}"#)
        #expect(try bench.ask("DELETE", Self.alert).status == 204)
        #expect(try bench.askNetwork("GET", Self.document).body == #"{"ios":{},"android":{}}"#)
    }

    @Test("alerts need their rights")
    func rights() throws {
        let bench = try Bench()
        let reader = try bench.newToken(.status)
        let body = Array(#"{"message":"m"}"#.utf8)
        #expect(try bench.askNetwork("PUT", Self.alert, body).status == 401)
        let headers = [("Authorization", "Bearer \(reader)")]
        #expect(try bench.askNetwork("PUT", Self.alert, body, headers: headers).status == 403)
        #expect(try bench.askNetwork("GET", Self.alert, headers: headers).status == 404)
    }

    @Test("a blocking alert vanishes from the document at its end, without anybody's doing")
    func ends() throws {
        let bench = try Bench()
        let time = Mutex(Bench.now)
        let versionCache = VersionCache(
            store: bench.store, clock: { time.withLock { $0 } },
            profiles: { [Bench.app: AppProfile(downloadURL: nil, alert: "Upgrade")] })
        let server = APIServer(
            store: bench.store, control: bench.control,
            settings: APISettings(
                listen: ListenAddress(host: "127.0.0.1", port: 0), controlSocket: nil, webhookSecrets: { [] },
                clock: { time.withLock { $0 } }), versionCache: versionCache)
        try bench.store.setAlert(
            AlertRecord(
                app: Bench.app, message: "m", isBlocking: true, endsAt: Bench.now + .seconds(60), createdAt: Bench.now,
                createdBy: "tester"))
        try server.start()
        defer { server.stop() }
        let request = "http://127.0.0.1:\(server.port ?? 0)\(Self.document)"
        func document() throws -> String { try Answer(HTTPClient().send(HTTPRequest("GET", request))).body }
        #expect(try document().contains(#""alert""#))
        time.withLock { $0 = Bench.now + .milliseconds(59_999) }
        #expect(try document().contains(#""alert""#))
        time.withLock { $0 = Bench.now + .seconds(60) }
        #expect(try document() == #"{"ios":{},"android":{}}"#)
    }

    @Test(
        "times are read as RFC 3339 has them, and nothing else is",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2023-11-14T22:13:20Z", 1_700_000_000_000),
            ("2023-11-15T06:13:20.25+08:00", 1_700_000_000_250), ("2024-02-29t12:00:00z", 1_709_208_000_000),
            ("2023-02-29T12:00:00Z", nil), ("2023-11-14 22:13:20Z", nil), ("2023-11-14T22:13:20", nil),
            ("2023-11-14T24:00:00Z", nil), ("2023-13-01T00:00:00Z", nil), ("2023-11-14T22:13:20.Z", nil),
            ("2023-11-14T22:13:20+0800", nil), ("", nil),
            // A time whose year in UTC has not four digits could not be written again.
            ("9999-12-31T23:59:59.999Z", 253_402_300_799_999), ("9999-12-31T23:59:60Z", nil),
            ("9999-12-31T23:59:59-00:01", nil), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("0000-01-01T00:00:00+00:01", nil),
        ] as [(String, Int64?)])
    func times(text: String, milliseconds: Int64?) {
        #expect(Timestamp(internetTime: text)?.milliseconds == milliseconds)
    }
}
