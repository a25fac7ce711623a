// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

@Suite("Phones that get another token, over HTTP", .ownThread)
struct ReplacingLiveTests {
    private let path = "/v1/apps/com.example.app/ios/devices"

    @Test("the device moves to the new token, and the answer says so")
    func moves() throws {
        let bench = try Bench()
        #expect(
            try bench.ask("PUT", "\(path)/aa01", #"{"telephone":"1","version":"1.0","environment":"sandbox"}"#).status
                == 201)
        let answer = try bench.ask("PUT", "\(path)/AA02", #"{"telephone":"1","replaces":"AA01"}"#)
        #expect(answer.status == 201)
        #expect(answer.text("replaced") == "moved")
        #expect(answer.text("token") == "aa02")
        #expect(answer.text("environment") == "production", "a PUT replaces the whole")
        #expect(answer.value("version") == .null)
        #expect(try bench.ask("GET", "\(path)/aa01").status == 404)
        #expect(try bench.ask("GET", "\(path)/aa02").text("telephone") == "1")
        // The same again: the old token no longer has a device.
        let again = try bench.ask("PUT", "\(path)/aa02", #"{"telephone":"1","replaces":"aa01"}"#)
        #expect(again.status == 200)
        #expect(again.text("replaced") == "unknown")
        // Both devices exist.
        #expect(try bench.ask("PUT", "\(path)/aa03", #"{"telephone":"2"}"#).value("replaced") == nil)
        let both = try bench.ask("PUT", "\(path)/aa03", #"{"telephone":"2","replaces":"aa02"}"#)
        #expect(both.status == 200)
        #expect(both.text("replaced") == "removed")
        #expect(try bench.ask("GET", "\(path)/aa02").status == 404)
        let other = try bench.ask("PUT", "\(path)/aa04", #"{"replaces":null}"#)
        #expect(other.status == 201 && other.value("replaced") == nil)
    }

    @Test("an Android token is replaced by an installation id, and keeps its case")
    func android() throws {
        let bench = try Bench()
        let path = "/v1/apps/com.example.app/android/devices"
        #expect(try bench.ask("PUT", "\(path)/dQw4:APA91b", #"{"telephone":"1"}"#).status == 201)
        let other = try bench.ask("PUT", "\(path)/fid:dQw4", #"{"telephone":"1","replaces":"dqw4:APA91b"}"#)
        #expect(other.text("replaced") == "unknown", "another case is another token")
        let answer = try bench.ask("PUT", "\(path)/fid:dQw5", #"{"telephone":"1","replaces":"dQw4:APA91b"}"#)
        #expect(answer.status == 201 && answer.text("replaced") == "moved")
    }

    @Test(
        "what cannot be replaced is refused, and nothing is registered",
        arguments: [
            (#"{"replaces":"AA02"}"#, "itself"), (#"{"replaces":"xyz"}"#, "hex"), (#"{"replaces":""}"#, "2 to 400"),
            (#"{"replaces":7}"#, "string"), (#"{"replaces":["aa01"]}"#, "string"),
        ])
    func refused(body: String, reason: String) throws {
        let bench = try Bench()
        let answer = try bench.ask("PUT", "\(path)/aa02", body)
        #expect(answer.status == 422)
        #expect(answer.body.contains("\"field\":\"replaces\"") && answer.body.contains(reason), "\(answer.body)")
        #expect(try bench.ask("GET", "\(path)/aa02").status == 404)
    }

    @Test("only a PUT replaces")
    func onlyPut() throws {
        let bench = try Bench()
        _ = try bench.ask("PUT", "\(path)/aa02", "{}")
        #expect(try bench.ask("PATCH", "\(path)/aa02", #"{"replaces":"aa01"}"#).status == 422)
        let imported = try bench.ask("POST", path, #"{"token":"aa03","replaces":"aa02"}"#)
        #expect(imported.body.contains("replaces"), "an import's line is refused: \(imported.body)")
        #expect(try bench.ask("GET", "\(path)/aa02").status == 200)
    }
}
