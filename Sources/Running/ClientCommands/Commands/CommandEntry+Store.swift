// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import StoreDrivers
import Synchronization
import Terminal
import Threading
import WireFormat

extension CommandEntry {
    static let storeStatus = client("store status") { run in
        let (reply, isRunning) = try await run.ask {
            (try await run.client().reply(to: APIRequest("GET", ["v1", "store"])), true)
        } orStore: { store in
            let body = StoreDocument.json(of: try store.status())
            return (try RelayClient.Reply(APIAnswer(status: 200, body: body)), false)
        }
        run.show(reply.text, status(reply.json, isRunning: isRunning))
        return .done
    }

    private static func status(_ store: JSONValue, isRunning: Bool) -> String {
        func release(_ value: JSONValue?) -> String {
            guard let value, value.object != nil else { return "-" }
            return "release \(value.shown(.release)), schema version \(value.shown(.schemaVersion)), since "
                + value.shown(.openedAt)
        }
        let (version, newest) = (store.shown(.schemaVersion), store.shown(.newestSchemaVersion))
        var fields = [
            ("store", store.shown(.path)), ("size", Quantity.bytes(store.count(.size))),
            ("schema", "version \(version)" + (version == newest ? "" : ", grows to \(newest) when the daemon starts")),
            ("first installed", release(store[.firstInstalled])), ("current", release(store[.current])),
        ]
        if store[.mark]?.object != nil { fields.append(("holds", mark(store[.mark]))) }
        if let fall = store[.wentBack], fall.object != nil {
            fields.append(
                (
                    "went back",
                    "this relay saw \(mark(fall[.seenMark])): nothing is sent until \"upgrade-relay store accept\""
                ))
        }
        if !isRunning { fields.append(("daemon", "does not answer; this is from the file")) }
        var table = TextTable(["VERSION", "STEP", .time("DONE")])
        for step in store.list(.chain) {
            table.add([step.shown(.version), step.shown(.name), step.shown(.appliedAt, or: "when the daemon starts")])
        }
        return "\(TextTable.fields(fields))\nchain\n\(table.text)"
    }

    /// A mark, worded as in the errors.
    private static func mark(_ mark: JSONValue?) -> String {
        guard let mark, let identity = mark[.identity]?.string else { return "-" }
        return "store \(identity.prefix(8)), decision \(mark.shown(.decision)), record \(mark.shown(.recorded))"
    }

    static let storeAccept = client("store accept") { run in
        let store = try await run.client().reply(to: APIRequest("GET", ["v1", "store"])).json
        guard let fall = store[.wentBack], fall.object != nil, let seen = fall[.seenMark], let found = fall[.foundMark]
        else {
            throw CommandFailure(
                .failed, "the store did not go back: there is nothing to accept",
                hint: "\"upgrade-relay store status\" says how far it is")
        }
        guard run.arguments.flag("yes") || run.console.canAsk else {
            throw UsageError("--yes is needed: this relay saw \(mark(seen)), and the store holds \(mark(found))")
        }
        try await Confirmation.obtain(run, ActWords(.acceptStore, "the store")) {
            TextTable.fields([
                ("store", store.shown(.path)), ("seen", mark(seen)), ("holds", mark(found)),
            ])
        }
        let reply = try await run.client().reply(
            to: APIRequest("POST", ["v1", "store", "accept"], json: ["seenMark": seen, "foundMark": found]))
        run.show(reply.text, "the store is worked on again: \(mark(reply.json[.mark]))\n" + reply.json.sentence)
        return .done
    }

    static let storeCheck = client("store check") { run in
        @Sendable func begins(_ name: String) {
            if run.connection.isQuiet || run.connection.isJSON { return }
            run.console.writeError("\(DisplayWidth.sanitised(name)) …\n")
        }
        func look(at store: any ClosedStore) throws -> JSONValue {
            do {
                let faults = try store.check { name in
                    begins(name)
                    return true
                }
                return try JSONReader.read(StoreDocument.json(of: faults))
            } catch let error as StoreError {
                throw CommandFailure(.failed, error.context, hint: error.hint)
            }
        }
        func ask() async throws -> JSONValue {
            let last = Mutex<JSONValue?>(nil)
            let request = APIRequest("GET", ["v1", "store", "check"], accept: "application/x-ndjson")
            try await run.client().follow(request, failed: "the check could not be made") { json in
                if let name = json[.begins]?.string { begins(name) }
                if json[.faults] != nil { last.withLock { $0 = json } }
            }
            guard let result = last.withLock({ $0 }) else {
                throw CommandFailure(.failed, "the daemon ended the check")
            }
            return result
        }
        let result =
            if let file = run.arguments.positional("FILE") {
                try look(at: StoreDriver.closed(file))
            } else {
                try await run.ask(ask, orStore: look)
            }
        let faults = result.list(.faults)
        let lines = faults.map { "\($0.shown(.check)): \($0[.detail]?.string ?? "")" }
        let text = lines.map { DisplayWidth.indented($0) + "\n" }.joined()
        run.show(result, text.isEmpty ? "the store is sound\n" : text)
        return faults.isEmpty ? .done : .failed
    }

    static let storePrune = client("store prune") { run in
        let age = try run.arguments.duration(
            "older-than", in: .seconds(3600)..., else: "is not a duration of at least 1h; write it like \"90d\"")
        guard let age else { throw UsageError("--older-than is needed, such as --older-than 90d") }
        let before = (WallClock.now() - age).internetTime
        try await Confirmation.obtain(run, ActWords(.pruneStore, "what is older than \(before)")) {
            let store = try await run.client().reply(to: APIRequest("GET", ["v1", "store"])).json
            return TextTable.fields([
                ("store", store.shown(.path)), ("size", Quantity.bytes(store.count(.size))),
                ("to delete", "deliveries of campaigns that ended before \(before), and what else is as old"),
            ])
        }
        let request = APIRequest(
            "POST", ["v1", "store", "prune"], json: ["before": .string(before)],
            accept: "application/x-ndjson")
        let last = Mutex<JSONValue>(.null)
        let display = run.progress("pruning")
        try await run.client().follow(request, failed: "the store could not be pruned") { report in
            last.withLock { $0 = report }
            display.update(done: report.count(.deliveries) + report.count(.devices))
        }
        display.finish()
        let report = last.withLock { $0 }
        guard report[.isDone]?.bool == true else {
            throw CommandFailure(
                .failed, "the pruning was interrupted", hint: "nothing is lost; the next one goes on where it stood")
        }
        run.show(
            report,
            TextTable.fields([
                ("campaigns", "\(Quantity.count(report.count(.campaigns))), their counts are kept"),
                ("deliveries", Quantity.count(report.count(.deliveries))),
                ("devices", Quantity.count(report.count(.devices))),
                ("former phone numbers", Quantity.count(report.count(.formerTelephones))),
                ("webhook ids", Quantity.count(report.count(.webhooks))),
                ("alerts", Quantity.count(report.count(.alerts))),
                ("notifications", Quantity.count(report.count(.notifications))),
                ("given back", Quantity.bytes(report.count(.freed))),
                ("longest pause", "\(report.shown(.longestPause)) ms"),
            ]) + report.sentence)
        return .done
    }
}
