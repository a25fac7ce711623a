// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import OwnThread
import Synchronization
import TestPeers
import Testing

@testable import ClientCommands
@testable import Configuration
@testable import Terminal

/// Sends some pieces of a list, and then breaks off or ends.
private final class PiecewiseTransport: APITransport {
    private let given: [String]
    private let breaks: Bool
    private let count = Mutex(0)

    init(_ pieces: [String], breaks: Bool) {
        given = pieces
        self.breaks = breaks
    }

    var requests: Int { count.withLock { $0 } }

    func send(_ request: APIRequest) async throws -> APIAnswer {
        count.withLock { $0 += 1 }
        let apps = #"{"items":[{"app":"a","platform":"ios"},{"app":"b","platform":"ios"}],"next":null}"#
        return APIAnswer(status: 200, body: Array(apps.utf8))
    }

    func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer {
        count.withLock { $0 += 1 }
        for piece in given { _ = try receive(Array(piece.utf8)) }
        if breaks { throw CommandFailure(.unreachable, "the daemon is not reachable: the connection was reset") }
        return APIAnswer(status: 200, body: [])
    }
}

@Suite(.ownThread) struct ExportTests {
    private let folder: String

    init() throws {
        folder = try TestFolder.make()
    }

    private var path: String { "\(folder)/list" }

    private func run(
        _ line: String, _ transport: any APITransport
    ) async -> (code: ExitCode, out: String, err: String) {
        let transcript = Transcript(isOutputTerminal: false)
        let code = await transcript.run(line.split(separator: " ").map(String.init), transport)
        return (code, transcript.out, transcript.err)
    }

    private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

    @Test(arguments: ["deliveries --campaign 0123456789ab --csv", "devices export --csv", "devices export"])
    func `A list that breaks off is an error in words, and leaves no file`(command: String) async {
        let pieces = ["h,i\nä", "1,2\nb", "3,4\n5"]
        for breaks in [true, false] {
            let shown = await run(command, PiecewiseTransport(pieces, breaks: breaks))
            #expect(shown.code == .failed)
            #expect(
                shown.err.contains("the list broke off after \(command.hasSuffix("csv") ? 2 : 3) lines"), "\(shown.err)"
            )
            #expect(shown.err.contains("what was written is not all of it"))
            #expect(shown.err.contains(breaks ? "lines: the connection was reset\n" : "lines and within a line\n"))
            #expect(shown.out == "h,i\nä1,2\nb3,4\n")
            let kept = await run("\(command) --output \(path)", PiecewiseTransport(pieces, breaks: breaks))
            #expect(kept.code == .failed)
            #expect(kept.err.contains("no file was made"), "\(kept.err)")
            #expect(files == [])
        }
        let never = await run("\(command) --output \(path)", PiecewiseTransport([], breaks: true))
        #expect(never.code == .unreachable)
        #expect(files == [])
    }

    @Test func `The lists of several apps have one header, however they are cut`() async throws {
        for cut in 1...12 {
            let text = Array("h,i\nä,1\nb,2\n".utf8)
            let pieces = stride(from: 0, to: text.count, by: cut).map { Array(text[$0..<min($0 + cut, text.count)]) }
            let transport = ByteTransport(pieces)
            let result = await run("devices export --csv --output \(path) --force", transport)
            #expect(result.code == .done, "\(result.err)")
            #expect(result.out == "\(path): 4 lines\n")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "h,i\nä,1\nb,2\nä,1\nb,2\n", "\(cut)")
        }
    }

    @Test func `A destination that cannot be written is refused before anything travels`() async throws {
        try Data("mine".utf8).write(to: URL(filePath: path))
        for (name, words) in [
            (path, "is there already"), ("\(folder)/none/list", "cannot be written"), (folder, "is not a file"),
            ("/dev/full", "is not a file"),
        ] {
            for command in ["devices export", "deliveries --campaign 0123456789ab --ndjson"] {
                let transport = PiecewiseTransport([], breaks: false)
                let result = await run("\(command) --output \(name)", transport)
                #expect(result.code == .failed && result.err.contains(words), "\(result.err)")
                #expect(transport.requests == 0)
            }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        #expect(files == ["list"])
        let replaced = await run("devices export --output \(path) --force", PiecewiseTransport(["{}\n"], breaks: false))
        #expect(replaced.out == "\(path): 2 lines\n", "\(replaced.err)")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        let json = await run(
            "devices export --json --output \(path) --force", PiecewiseTransport(["{}\n"], breaks: false))
        #expect(json.out == "{\"file\":\"\(path)\",\"lines\":2}\n")
    }

    @Test(arguments: [
        ("deliveries --campaign latest --csv --ndjson", "--csv and --ndjson exclude each other"),
        ("deliveries --telephone 1 --csv --json", "--csv and --json exclude each other"),
        ("deliveries --telephone 1 --ndjson --json", "--ndjson and --json exclude each other"),
        ("deliveries --telephone 1 --output x", "--output goes with --csv or --ndjson"),
        ("deliveries --telephone 1 --csv --force", "--force goes with --output"),
        ("deliveries --telephone 1 --for-spreadsheet", "--for-spreadsheet goes with --csv"),
        ("deliveries --telephone 1 --csv --limit 5", "--limit goes with pages"),
        ("deliveries --telephone 1 --device 2", "exclude each other without --campaign"),
        ("deliveries --state rejected", "one of --campaign, --telephone and --device is needed"),
        ("deliveries --campaign 0123456789ab --app a", "a campaign is of one app"),
        ("deliveries --telephone 1 --platform web", "\"web\" is not a platform"),
        ("devices export --below two", "--below: "), ("devices export --dead --alive", "exclude each other"),
        ("devices export --environment test", "\"test\" is not an environment"),
        ("devices export --csv --json", "--csv and --json exclude each other"),
        ("devices show", "one of TOKEN, --token (with --url: --device) and --telephone is needed"),
        ("devices remove ff --telephone 1", "one of TOKEN"), ("devices remove ff --token aa", "one of TOKEN"),
    ])
    func `What goes together with nothing is a usage error`(line: String, words: String) async {
        let transport = PiecewiseTransport(["{}\n"], breaks: false)
        let result = await run(line, transport)
        #expect(result.code == .usage, "\(result)")
        #expect(result.err.contains(words), "\(result.err)")
    }

    @Test func `Filters go to the API`() async {
        let transport = ScriptedTransport([
            "GET /v1/campaigns/0123456789ab/deliveries?state=rejected&reason=Busy&telephone=1&token=ff": (200, "x\n"),
            "GET /v1/deliveries?limit=50&state=filtered&token=ff&app=a&platform=ios": (
                200, #"{"items":[],"next":null}"#
            ),
            "GET /v1/apps/a/ios/devices?telephone=1&below=2.0&environment=sandbox&dead=false": (200, "y\n"),
        ])
        let campaign = "--campaign 0123456789ab --state rejected --reason Busy --telephone 1 --device ff"
        #expect(await run("deliveries \(campaign) --csv", transport).out == "x\n")
        let page = await run("deliveries --device ff --state filtered --app a --platform ios", transport)
        #expect(page.out == "no deliveries\n", "\(page.err)")
        let filters = "--telephone 1 --below 2.0 --environment sandbox --alive"
        #expect(await run("devices export --app a --platform ios \(filters)", transport).out == "y\n")
    }
}

/// Sends these pieces for every list.
private struct ByteTransport: APITransport {
    private let given: [[UInt8]]

    init(_ pieces: [[UInt8]]) {
        given = pieces
    }

    func send(_ request: APIRequest) async throws -> APIAnswer {
        try await PiecewiseTransport([], breaks: false).send(request)
    }

    func pieces(
        _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
    ) async throws -> APIAnswer {
        for piece in given { _ = try receive(piece) }
        return APIAnswer(status: 200, body: [])
    }
}
