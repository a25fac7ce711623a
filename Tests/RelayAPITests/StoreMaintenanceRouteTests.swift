// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import TestStores
import Testing

@Suite("The store's maintenance over the API", .ownThread)
struct StoreMaintenanceRouteTests {
    @Test("a backup is lines of progress, a size, and a database of that size")
    func backup() throws {
        let bench = try Bench()
        _ = try bench.campaign(required: "2.0.0")
        var request = HTTPRequest("GET", "http://relay/v1/store/backup")
        request.timeout = .seconds(60)
        let response = try bench.client.send(request)
        #expect(response.status == 200)
        #expect(response["content-type"] == "application/vnd.upgrade-relay.backup")
        var rest = response.body[...]
        var lines: [String] = []
        repeat {
            let end = try #require(rest.firstIndex(of: 0x0A))
            lines.append(String(decoding: rest[..<end], as: UTF8.self))
            rest = rest[(end + 1)...]
        } while !(lines.last ?? "").contains("size")
        #expect(lines.first?.contains("\"done\":") == true)
        #expect(lines.last == "{\"size\":\(rest.count)}")
        let copy = bench.directory.appending(path: "copy.db")
        try Data(rest).write(to: copy)
        let store = try openStore(copy.path)
        defer { store.close() }
        #expect(try store.check { _ in true } == [])
        #expect(try store.campaigns(before: nil, limit: 9).count == 1)
    }

    @Test("a check names its steps and then the faults")
    func check() throws {
        let bench = try Bench()
        _ = try bench.campaign(required: "2.0.0")
        let sound = try bench.ask("GET", "/v1/store/check").body
        #expect(sound.hasPrefix("{\"begins\":\"pages and indexes\"}\n") && sound.hasSuffix("{\"faults\":[]}\n"))
        try bench.store.administer("UPDATE campaign_run SET accepted = 5")
        let damaged = try bench.ask("GET", "/v1/store/check").body
        #expect(damaged.contains("\"check\":\"counts of campaigns\"") && damaged.contains("accepted is 5"))
    }

    @Test("a pruning tells what went, and wants a time that is past")
    func prune() throws {
        let bench = try Bench()
        let id = try bench.campaign(required: "2.0.0")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/cancel").status == 200)
        let early = try bench.ask("POST", "/v1/store/prune", #"{"before":"2023-11-14T21:00:00Z"}"#)
        #expect(early.body.contains("\"isDone\":true,\"campaigns\":0"))
        try bench.store.administer("UPDATE campaign SET finished_at = 1000")
        let answer = try bench.ask("POST", "/v1/store/prune", #"{"before":"2023-11-14T21:00:00Z"}"#)
        #expect(answer.body.contains("\"isDone\":true,\"campaigns\":1"), "\(answer.body)")
        #expect(bench.logged.all.contains { $0.contains("the store was pruned campaigns=1") })
        for (body, fault) in [
            ("{}", "is missing"), (#"{"before":"yesterday"}"#, "a time as in RFC 3339"),
            (#"{"before":"2023-11-14T22:00:00Z"}"#, "at least an hour ago"), (#"{"before":7}"#, "before"),
            (#"{"before":"2023-11-14T21:00:00Z","x":1}"#, "x"),
        ] {
            let refused = try bench.ask("POST", "/v1/store/prune", body)
            #expect(refused.status == 422 && refused.body.contains(fault), "\(refused.body)")
        }
    }

    @Test("one at a time, and free again when the client has gone")
    func oneAtATime() throws {
        let bench = try Bench()
        // More than all buffers hold, so that the backup is not done while its client asks for the check.
        let lines = (0..<20_000).map { String(format: #"{"token":"%064x","version":"1.0"}"#, $0) }
        let stored = try bench.ask("POST", ResourceLiveTests.devices, lines.joined(separator: "\n"))
        #expect(stored.number("stored") == "20000")
        var second = 0
        _ = try bench.client.pieces(HTTPRequest("GET", "http://relay/v1/store/backup")) { _ in
            second = try bench.ask("GET", "/v1/store/check").status
            return false
        }
        #expect(second == 409)
        var status = 0
        try bench.until {
            status = try bench.ask("GET", "/v1/store/check").status
            return status != 409
        }
        #expect(status == 200)
    }

    @Test("is the operator's alone")
    func rights() throws {
        let bench = try Bench()
        let token = try bench.newToken(.status, .versions, .devices, .campaigns)
        for (method, path) in [("GET", "backup"), ("GET", "check"), ("POST", "prune")] {
            #expect(try bench.askNetwork(method, "/v1/store/\(path)").status == 401)
            let answer = try bench.askNetwork(
                method, "/v1/store/\(path)", headers: [("authorization", "Bearer \(token)")])
            #expect(answer.status == 403)
        }
    }

    @Test("notifications are listed with their attempts, by campaign and state, page by page")
    func notifications() throws {
        let bench = try Bench()
        let url = "https://ci.example.com:8443/hooks/s3cret?key=k"
        try bench.store.adoptReceivers([NotificationReceiver(url: url)], at: Bench.now)
        let id = try bench.campaign(required: "2.0.0")
        #expect(try bench.ask("POST", "/v1/campaigns/\(id)/pause").status == 200)
        try bench.store.addressEvents(limit: 9, at: Bench.now)
        let due = try #require(try bench.store.dueNotification(for: url, at: Bench.now))
        try bench.store.record(
            .init(number: 1, at: Bench.now, milliseconds: 7, status: 500, error: "HTTP 500"), of: due.row,
            then: .retry(at: Bench.now, holdUntil: nil), at: Bench.now)
        let token = try bench.newToken(.status)
        let first = try bench.askNetwork(
            "GET", "/v1/notifications?limit=1", headers: [("authorization", "Bearer \(token)")])
        #expect(first.status == 200)
        #expect(first.text("items", "0", "type") == "campaign.paused")
        #expect(first.count("items", "0", "attempts") == 0)
        #expect(first.text("items", "0", "url") == "https://ci.example.com:8443", "a token is told no secret")
        let second = try bench.ask("GET", "/v1/notifications?cursor=\(first.text("next") ?? "")")
        #expect(second.text("items", "0", "type") == "requirement.inForce")
        #expect(second.text("items", "1", "type") == "campaign.running")
        #expect(second.text("items", "1", "url") == url, "an operator tells receivers of one host apart")
        #expect(second.number("items", "1", "attempts", "0", "status") == "500")
        #expect(second.text("items", "1", "attempts", "0", "error") == "HTTP 500")
        #expect(try bench.ask("GET", "/v1/notifications?state=failed").count("items") == 0)
        #expect(try bench.ask("GET", "/v1/notifications?campaign=\(id)&state=pending").count("items") == 3)
        #expect(try bench.ask("GET", "/v1/notifications?campaign=none").count("items") == 0)
        #expect(try bench.ask("GET", "/v1/notifications?state=lost").status == 422)
        #expect(try bench.ask("GET", "/v1/notifications?cursor=x").status == 422)
    }
}
