// SPDX-License-Identifier: Apache-2.0
import OwnThread
import RelayEngine
import RelayStore
import Testing
import Threading
import UpgradeRules
import WireFormat

@testable import HTTPServer
@testable import RelayAPI

@Suite("Lists as streams", .ownThread)
struct StreamedListTests {
    @Test(
        "an Accept names a form by its weight, or leaves it to us",
        arguments: [
            (nil, nil), ("*/*", nil), ("text/html, */*;q=0.8", nil), ("text/csv", .csv),
            ("Text/CSV; charset=utf-8", .csv),
            ("application/x-ndjson", .ndjson), ("text/csv;q=0.5, application/x-ndjson", .ndjson),
            ("text/csv; q=0.9,application/json;q=0.8", .csv), ("application/json, text/csv", .json),
            ("text/csv;q=0", nil), ("text/csv;q=x", nil), (",;,", nil),
        ] as [(String?, ListForm?)])
    func forms(accept: String?, form: ListForm?) {
        #expect(ListForm.accepted(accept, among: [.json, .csv, .ndjson]) == form)
    }

    /// The records of CSV without quotes, the header's first.
    private func records(_ answer: Answer) -> [[String]] {
        answer.body.split(separator: "\n").map { line in
            line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
    }

    private func lines(_ answer: Answer) -> [String] { answer.body.split(separator: "\n").map(String.init) }

    /// 2,300 devices and a campaign that waits for all of them.
    private func many() throws -> (bench: Bench, path: String) {
        let bench = try Bench()
        let version = try Version("1.0")
        try bench.store.register(
            (0..<2_300).map { number in
                DeviceRegistration(
                    app: Bench.app, token: "ab\(number + 1_000)", telephone: "1\(number)", version: version)
            }, at: Bench.now)
        return (bench, "/v1/campaigns/\(try bench.campaign(required: "2.0"))/deliveries")
    }

    @Test("all deliveries of a campaign come as NDJSON and as CSV, and are those of its pages")
    func deliveries() throws {
        let (bench, path) = try many()
        var paged: [JSONValue] = []
        var next = ""
        repeat {
            let page = try bench.ask("GET", "\(path)?limit=1000\(next)")
            #expect(page[header: "content-type"] == "application/json")
            paged += page.value("items")?.array ?? []
            next = page.text("next").map { "&cursor=\($0)" } ?? ""
        } while !next.isEmpty
        try #require(paged.count == 2_300)
        let ndjson = try bench.ask("GET", path, headers: [("Accept", "application/x-ndjson")])
        #expect(ndjson[header: "content-type"] == "application/x-ndjson")
        #expect(try ndjson.body.split(separator: "\n").map { try JSONReader.read(Array($0.utf8)) } == paged)
        for csv in [
            try bench.ask("GET", path, headers: [("Accept", "text/csv")]),
            try bench.ask("GET", "\(path)?format=csv", headers: [("Accept", "application/json")]),
        ] {
            #expect(csv[header: "content-type"] == "text/csv")
            let records = records(csv)
            #expect(records.count == 2_301)
            #expect(
                records.first?.joined(separator: ",")
                    == "campaign,app,platform,token,telephone,state,reason,apnsId,attempts,nextAttemptAt,updatedAt")
            #expect(records.dropFirst().map { $0[3] } == paged.map { $0["token"]?.string ?? "" })
            #expect(records.last?[5] == "pending" && records.last?[6] == "" && records.last?[8] == "0")
        }
        // An empty list still has the form that was asked for.
        #expect(try bench.ask("GET", "\(path)?format=csv&state=rejected").body.split(separator: "\n").count == 1)
        #expect(try bench.ask("GET", "\(path)?format=ndjson&state=rejected").body == "")
        #expect(try lines(bench.ask("GET", "\(path)?format=ndjson&telephone=17")).count == 1)
        #expect(try lines(bench.ask("GET", "\(path)?format=ndjson&token=AB1007&reason=x")).count == 0)
        #expect(try bench.ask("HEAD", "\(path)?format=csv").status == 200)
    }

    @Test("a user's deliveries and an app's devices come as streams, by what they are filtered by")
    func filters() throws {
        let (bench, _) = try many()
        _ = try bench.campaign(required: "3.0")
        let path = "/v1/deliveries?telephone=15&format=csv"
        #expect(try records(bench.ask("GET", path)).count == 3)
        #expect(try records(bench.ask("GET", "\(path)&state=cancelled")).count == 2)
        #expect(try records(bench.ask("GET", "\(path)&app=com.example.app&platform=ios")).count == 3)
        #expect(try records(bench.ask("GET", "\(path)&platform=android")).count == 1)
        #expect(try bench.ask("GET", "/v1/deliveries?telephone=15&state=pending").count("items") == 1)

        let devices = "/v1/apps/com.example.app/ios/devices"
        #expect(
            try bench.ask("PUT", "\(devices)/ff01", #"{"telephone":"15","version":"2.0","environment":"sandbox"}"#)
                .status
                == 201)
        #expect(try bench.ask("PUT", "\(devices)/ff02", #"{"telephone":"9"}"#).status == 201)
        bench.clock.advance(by: .seconds(60))
        #expect(
            try bench.ask("POST", devices, #"{"token":"ff02","deadSince":"2023-11-14T22:13:21Z"}"# + "\n")
                .number("updated") == "1")
        let all = try bench.ask("GET", devices, headers: [("Accept", "text/csv")])
        #expect(records(all).count == 2_303)
        #expect(
            lines(all).last
                == "com.example.app,ios,ff02,9,,production,,,2023-11-14T22:13:20.000Z,2023-11-14T22:13:21.000Z,")
        for (query, count) in [
            ("telephone=15", 2), ("telephone=15&environment=sandbox", 1), ("environment=sandbox", 1),
            ("below=2.0", 2_301),
            ("below=1.0", 1), ("below=2.0.1", 2_302), ("dead=true", 1), ("dead=false", 2_301),
            ("dead=true&environment=sandbox", 0), ("telephone=none", 0),
        ] {
            #expect(try lines(bench.ask("GET", "\(devices)?\(query)")).count == count, "\(query)")
        }
    }

    @Test(
        "what a stream cannot mean is refused",
        arguments: [
            ("/v1/campaigns/00/deliveries?format=csv&limit=5", "limit"),
            ("/v1/deliveries?telephone=1&format=ndjson&cursor=zz", "cursor"),
            ("/v1/deliveries?telephone=1&format=xml", "format"), ("/v1/deliveries?telephone=1&reason=", "reason"),
            ("/v1/deliveries?telephone=1&platform=web", "platform"),
            ("/v1/apps/com.example.app/ios/devices?format=json", "format"),
            ("/v1/apps/com.example.app/ios/devices?below=two", "below"),
            ("/v1/apps/com.example.app/ios/devices?environment=test", "environment"),
            ("/v1/apps/com.example.app/ios/devices?dead=yes", "dead"),
            ("/v1/apps/com.example.app/ios/devices?limit=5", "limit"), ("/v1/devices", "telephone"),
            ("/v1/devices?telephone=1&token=2", "telephone"), ("/v1/devices?telephone=", "telephone"),
        ])
    func refused(path: String, field: String) throws {
        let answer = try Bench().ask("GET", path)
        #expect(answer.status == 422)
        #expect(answer.text("errors", "0", "field") == field)
    }

    @Test("a list that cannot be read to its end throws, so that its connection is cut")
    func broken() throws {
        let stop = CancellationFlag()
        var (reads, time) = (0, Int64(0))
        let now = Bench.now
        let list = ListExport(
            .csv, LineFormat<DeviceRecord>.device, for: .whole, stop: stop,
            clock: {
                time += 5
                return time
            }, isWanted: { $0.id == 2_000 },
            read: { last, limit in
                reads += 1
                if reads == 20 { throw StoreError(.failed, context: "the disk is gone") }
                let first = (last?.id ?? 0) + 1
                let records = (first..<first + Int64(limit)).map { id in
                    DeviceRecord(
                        id: id,
                        registration: DeviceRegistration(
                            app: Bench.app, token: "\(id)", telephone: "1,\"2", version: nil),
                        registeredAt: now, retiredAt: nil)
                }
                return (records, isLast: false)
            })
        guard case .bytes(let header) = try list.next() else {
            Issue.record("no header")
            return
        }
        #expect(header.last == 0x0A)
        guard case .bytes(let line) = try list.next() else {
            Issue.record("no line")
            return
        }
        #expect(
            String(decoding: line, as: UTF8.self)
                == "com.example.app,ios,2000,\"1,\"\"2\",,production,,,2023-11-14T22:13:20.000Z,,\n")
        // Thousands of records that are not wanted give nothing to send, and the list goes on.
        #expect(try list.next() == .later(1))
        #expect(throws: StoreError.self) { try list.next() }
        stop.set()
        #expect(throws: ProblemDetails.self) { try list.next() }
    }
}
