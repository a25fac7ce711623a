// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Requirements
import Testing
import UpgradeRules
import WireFormat

@testable import RelayAPI

@Suite("Dead tokens, listed as they died", .ownThread)
struct DeadDeviceLiveTests {
    private let path = "/v1/apps/com.example.app/ios/devices?dead=true"

    /// Imports devices with these numbers as dead.
    private func kill(_ numbers: Range<Int>, _ bench: Bench, at time: Timestamp = Bench.now) throws {
        var batch = RegistrationBatch(app: Bench.app)
        for number in numbers {
            batch.append(
                DeviceChange(token: token(number), telephone: .set("1\(number)"), deadSince: time - .seconds(9)))
        }
        _ = try bench.store.register(batch, at: time, isDryRun: false) { _ in }
    }

    private func token(_ number: Int) -> String { "ab\(number + 1_000)" }

    private func tokens(_ answer: Answer) -> [String] {
        (answer.value("items")?.array ?? []).compactMap { $0["token"]?.string }
    }

    @Test("pages lead to the end, and since from there to what comes later")
    func pages() throws {
        let bench = try Bench()
        try bench.store.register(
            [DeviceRegistration(app: Bench.app, token: "cc01", telephone: "1", version: nil)], at: Bench.now)
        let empty = try bench.ask("GET", "\(path)&since=2020-01-01T00:00:00Z")
        #expect(empty.status == 200 && tokens(empty).isEmpty && empty.value("next") == .null)
        try kill(0..<5, bench)
        // All of them have the same millisecond.
        let since = Bench.now.internetTime
        var (found, next, last): ([String], String?, String?) = ([], nil, nil)
        repeat {
            let page = try bench.ask("GET", "\(path)&since=\(since)&limit=2\(next.map { "&cursor=\($0)" } ?? "")")
            #expect(tokens(page).count <= 2)
            found += tokens(page)
            (next, last) = (page.text("next"), page.text("since"))
            #expect(next == nil || next == last)
        } while next != nil
        #expect(Set(found) == Set((0..<5).map(token)))
        #expect(found.count == 5)
        let start = try #require(last)
        #expect(try tokens(bench.ask("GET", "\(path)&since=\(start)")).isEmpty)
        // With a clock that was set back by an hour.
        try kill(5..<6, bench, at: Bench.now - .seconds(3600))
        let later = try bench.ask("GET", "\(path)&since=\(start)")
        #expect(tokens(later) == [token(5)])
        let item = try #require(later.value("items")?.array?.first)
        #expect(item["telephone"]?.string == "15")
        #expect(item["since"]?.string == later.text("since"))
        #expect(item["retiredAt"]?.string == (Bench.now - .seconds(3609)).internetTime)
        // From the `since` of the answer that was empty.
        #expect(try tokens(bench.ask("GET", "\(path)&since=\(try #require(empty.text("since")))")).count == 6)
        #expect(try tokens(bench.ask("GET", "\(path)&since=2999-01-01T00:00:00Z")).isEmpty)
        // Alive again.
        _ = try bench.ask("PUT", "/v1/apps/com.example.app/ios/devices/\(token(5))", #"{"telephone":"1"}"#)
        #expect(try tokens(bench.ask("GET", "\(path)&since=\(start)")).isEmpty)
    }

    @Test("as NDJSON they come to the end, each line with where it stands")
    func lines() throws {
        let bench = try Bench()
        try kill(0..<2_300, bench)
        for (query, headers) in [
            ("&format=ndjson", [("Accept", "application/json")]), ("", [("Accept", "application/x-ndjson")]),
        ] {
            let answer = try bench.ask("GET", "\(path)&since=2020-01-01T00:00:00Z\(query)", headers: headers)
            #expect(answer[header: "content-type"] == "application/x-ndjson")
            let lines = try answer.body.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) }
            #expect(Set(lines.compactMap { $0["token"]?.string }) == Set((0..<2_300).map(token)))
            let middle = try #require(lines[1_149]["since"]?.string)
            let rest = try bench.ask("GET", "\(path)&since=\(middle)&limit=1000")
            #expect(tokens(rest).first == lines[1_150]["token"]?.string)
        }
        // Without `since` it is the registry's list, as before.
        let all = try bench.ask("GET", path)
        #expect(all[header: "content-type"] == "application/x-ndjson")
        #expect(all.body.split(separator: "\n").count == 2_300)
        #expect(all.body.contains("deadSince"))
    }

    @Test(
        "what is no question for dead tokens is refused with its field",
        arguments: [
            ("?dead=true&since=", "since"), ("?dead=true&since=yesterday", "since"),
            ("?dead=true&since=2026-01-31", "since"), ("?dead=true&since=dm9pZA", "since"),
            ("?since=2026-01-31T00:00:00Z", "dead"), ("?dead=false&since=2026-01-31T00:00:00Z", "dead"),
            ("?dead=true&since=2026-01-31T00:00:00Z&telephone=1", "telephone"),
            ("?dead=true&since=2026-01-31T00:00:00Z&below=2.0", "below"),
            ("?dead=true&since=2026-01-31T00:00:00Z&format=csv", "format"),
            ("?dead=true&since=2026-01-31T00:00:00Z&limit=0", "limit"),
            ("?dead=true&since=2026-01-31T00:00:00Z&limit=1001", "limit"),
            ("?dead=true&since=2026-01-31T00:00:00Z&cursor=x", "cursor"),
            ("?dead=true&since=2026-01-31T00:00:00Z&format=ndjson&limit=5", "limit"),
            ("?dead=true&limit=5", "limit"), ("?dead=true&cursor=x", "cursor"), ("?dead=true&format=json", "format"),
        ])
    func refused(query: String, field: String) throws {
        let answer = try Bench().ask("GET", "/v1/apps/com.example.app/ios/devices\(query)")
        #expect(answer.status == 422)
        #expect(answer.body.contains("\"field\":\"\(field)\""), "\(answer.body)")
    }

    @Test("the receivers' event has the tokens and where the list goes on, and no telephone; a chat has their number")
    func event() throws {
        let bench = try Bench()
        try kill(0..<3, bench)
        let devices = try bench.store.deadDevices(of: Bench.app, after: DeadPlace(order: 0), limit: 9)
        let last = try #require(devices.last)
        let event = RelayEvent(
            id: "0f4ad1b2", type: .dead, at: Bench.now, subject: .dead(Bench.app, devices, through: last.place))
        let body = NotificationDocument.json(of: event)
        let post = try #require(DocumentCheck.document["webhooks"]?["devicesDied"]?["post"])
        let schema = try #require(post["requestBody"]?["content"]?["application/json"]?["schema"])
        let sent = try JSONReader.read(body)
        #expect(DocumentCheck.check.faults(sent, schema).isEmpty)
        #expect(
            sent["data"]?["tokens"]?.array?.compactMap { $0["token"]?.string }
                == devices.map(\.record.registration.token))
        #expect(!String(decoding: body, as: UTF8.self).contains("telephone"))
        let since = try #require(sent["data"]?["since"]?.string)
        #expect(try tokens(bench.ask("GET", "\(path)&since=\(since)")).isEmpty)
        let text = String(decoding: NotificationDocument.slack(of: event), as: UTF8.self)
        #expect(text.contains("3 tokens were called dead"))
        #expect(!text.contains(token(0)))
    }
}
