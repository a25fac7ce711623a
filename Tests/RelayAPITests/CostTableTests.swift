// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayStore
import Telemetry
import Testing
import Threading

@testable import HTTPServer
@testable import RelayAPI

/// The tables of COSTS.md, beside this file, match the routes and their kinds of work.
@Suite("What a request may cost")
struct CostTableTests {
    private static func document() throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        return try String(contentsOf: folder.appending(path: "COSTS.md"), encoding: .utf8)
    }

    private static func rows(below heading: String) throws -> [String] {
        let lines = try document().split(separator: "\n", omittingEmptySubsequences: false).drop { $0 != heading }
        #expect(!lines.isEmpty, "there is no line \"\(heading)\"")
        return lines.dropFirst(2).prefix { $0.hasPrefix("|") }.map(String.init)
    }

    private static func api() throws -> API {
        let store = try Bench().store
        let settings = APISettings(
            listen: nil, controlSocket: nil, webhookSecrets: { [] }, clock: { Bench.now }, log: .discarding)
        return API(
            store: store, control: ControlDouble(store: store), settings: settings,
            versionCache: VersionCache(store: store, clock: settings.clock) { [:] }, router: .api)
    }

    private static func row(_ route: Route, _ api: API) -> String {
        let kind =
            switch route.waiting {
            case .work(let kind): "\(kind)"
            case .nothing: "none"
            case .nothingUnless: "none or reads"
            }
        let bound = route.slots.map { slots in
            let slots = slots(api)
            return slots.each == slots.limit ? "\(slots.limit)" : "\(slots.each) of \(slots.limit)"
        }
        let limits = APILimits()
        let body =
            switch route.answer {
            case .head: "none"
            case .body: "\(limits.body / 1024) KiB"
            case .form, .signed: "\(limits.webhookBody / 1024) KiB"
            case .stream: "any, \(Exchange.piece / 1024) KiB at a time"
            }
        return "| \(route.pattern) | \(kind) | \(bound ?? "its threads") | \(body) |"
    }

    @Test("each route has its line, with its kind of work, how often it goes on at a time, and its body")
    func routes() throws {
        let api = try Self.api()
        let wanted = Route.all.map { Self.row($0, api) }
        let told = try Self.rows(below: "| request | kind | at a time | body |")
        #expect(told == wanted, "the table should be:\n\(wanted.joined(separator: "\n"))")
    }

    @Test("each kind of work has its line, with its threads")
    func kinds() throws {
        let wanted = WorkKind.allCases.map { "| \($0) | \($0.threads) |" }
        let told = try Self.rows(below: "| kind | threads | waits for | longest |").map { row in
            row.split(separator: "|").prefix(2).map { "|\($0)" }.joined() + "|"
        }
        #expect(told == wanted, "the table should begin:\n\(wanted.joined(separator: "\n"))")
        let text = "\(WorkKind.queue.formatted(.number.locale(Locale(identifier: "en_US")))) requests"
        #expect(try Self.document().contains(text))
    }
}
