// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import PushSimulator
import Testing

/// How much the real daemon writes, and that an operator can change it.
@Suite(.serialized, .ownThread) struct LogLevelTests {
    /// Ten times the devices must not write one line more.
    @Test func linesDoNotGrowWithTheAudience() throws {
        let few = try lines(devices: 400, level: "debug")
        let many = try lines(devices: 3_000, level: "debug")
        #expect(many.count <= few.count + 4, "\(many.joined(separator: "\n"))")
        let usual = try lines(devices: 3_000, level: "info")
        #expect(usual.count <= 20 && usual.count <= many.count, "\(usual.joined(separator: "\n"))")
        #expect(usual.contains { $0.contains("the campaign is complete") })
    }

    /// The lines of a campaign with faults of every kind, from the start of the daemon to its end.
    private func lines(devices: Int, level: String) throws -> [String] {
        let fleet = Fleet(count: devices, withoutTelephone: 10, current: 7)
        let bench = try Workbench {
            $0.faults.deadShare = 0.05
            $0.faults.badShare = 0.02
            $0.faults.busyShare = 0.02
            $0.faults.busyTries = 1
            $0.faults.cutAfter = 200
            $0.faults.cutTimes = 1
        }
        try bench.start(logLevel: level)
        let relay = try #require(bench.relay)
        try bench.register(fleet)
        let id = try bench.campaign(of: bench.bump("2.0.0"))
        #expect(try bench.follow(id, within: .seconds(60)) { $0.isFinal }.addsUp)
        relay.send(SIGTERM)
        #expect(relay.wait().status == 0)
        _ = relay.waitForLine("(end of log)", within: .seconds(60))
        let lines = relay.log.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("(end of log)") }
        print("log lines of a campaign to \(devices) devices at \(level): \(lines.count)")
        for line in lines where line.contains("campaign ") && !line.contains("reload") {
            #expect(line.contains("campaign=\(id)"), "\(line)")
        }
        return lines
    }

    /// For programs that collect logs: every line of the daemon is an object, with milliseconds; a reload changes the form at once.
    @Test func linesAreObjectsWhereTheConfigurationSaysSo() throws {
        let bench = try Workbench()
        try bench.edit { $0.replacing("apps: {", with: "log: { format: \"json\" }, apps: {") }
        try bench.launch(logLevel: nil)
        let relay = try #require(bench.relay)
        #expect(relay.waitForLine("\"ready\"", within: .seconds(60)) != nil)
        try bench.register(Fleet(count: 10))
        let place = "/v1/apps/\(Workbench.app)/ios/version"
        let id = try bench.campaign(
            of: bench.api("PUT", place, body: Array(#"{"required":"2.0.0","confirm":true}"#.utf8)))
        #expect(relay.waitForLine("the campaign is complete", within: .seconds(60)) != nil)
        let lines = relay.log.split(separator: "\n")
        let objects = try lines.map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
        }
        for object in objects {
            let time = object["time"] as? String ?? ""
            #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(object)")
            #expect(["info", "notice", "warning"].contains(object["level"] as? String), "\(object)")
        }
        let change = try #require(objects.first { $0["message"] as? String == "what is required changed" })
        #expect(change["campaign"] as? String == id && change["from"] as? String == "nothing")
        #expect(change["to"] as? String == "2.0.0" && change["devices"] as? String == "10", "\(change)")

        try bench.edit { $0.replacing("format: \"json\"", with: "format: \"text\"") }
        try bench.reload()
        #expect(relay.log.split(separator: "\n").last?.hasPrefix("20") == true, "\(relay.log)")
    }

    @Test func theLevelChangesAtRunTime() throws {
        let bench = try Workbench()
        try bench.edit { $0.replacing("apps: {", with: "log: { level: \"info\" }, apps: {") }
        try bench.start(logLevel: nil)
        let relay = try #require(bench.relay)
        #expect(try bench.command("log", "level").output == "the log's level is info\n")
        _ = try bench.api("GET", "/v1/apps")
        #expect(!relay.log.contains("debug"))

        let change = try bench.command("log", "level", "debug")
        #expect(change.status == 0 && change.output == "the log's level is debug\n", "\(change)")
        _ = try bench.api("GET", "/v1/apps")
        let answered = "debug   request answered route=\"GET /v1/apps\""
        #expect(relay.waitForLine(answered, within: .seconds(60)) != nil)
        // A line of the request before the change would have come before this one.
        #expect(relay.log.split(separator: "\n").count { $0.contains(answered) } == 1)

        // The configuration's level comes back with a reload; a wrong one changes nothing.
        try bench.edit { $0.replacing("level: \"info\"", with: "level: \"loud\"") }
        relay.send(SIGHUP)
        let refused = try #require(relay.waitForLine("not reloaded", within: .seconds(60)))
        #expect(refused.contains("log.level") && refused.contains("loud"), "\(refused)")
        #expect(try bench.api("GET", "/v1/log").json["level"] as? String == "debug")
        try bench.edit { $0.replacing("level: \"loud\"", with: "level: \"notice\"") }
        relay.send(SIGHUP)
        #expect(relay.waitForLine("reloaded apps=", within: .seconds(60)) != nil)
        #expect(try bench.api("GET", "/v1/log").json["level"] as? String == "notice")

        let wrong = try bench.command("log", "level", "loud")
        #expect(wrong.status == 2 && wrong.errors.contains("debug, info, notice, warning or error"), "\(wrong)")
    }
}
