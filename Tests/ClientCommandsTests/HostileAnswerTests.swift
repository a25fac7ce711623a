// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Testing
import WireFormat

@testable import ClientCommands
@testable import Terminal

/// Texts that clients have stored, and the answers of a server that is no relay, come to the operator's terminal as text.
@Suite struct HostileAnswerTests {
    /// Erases the screen, by ESC and by C1; rings; names the window; turns the text; ends the line.
    private static let hostile =
        "\\u001b[2J\u{9B}2J\\u0007\\u001b]0;x\\u0007\u{202E}\u{2028}\u{2029}\u{7F}\\r\\nforged\\u0085\u{85}\u{E0001}"

    /// An object in which every field that any command reads is hostile.
    private static let record: String = {
        let names = [
            "app", "platform", "token", "telephone", "version", "environment", "campaign", "state", "reason", "apnsId",
            "id", "required", "latest", "downloadUrl", "message", "createdAt", "startedAt", "finishedAt", "updatedAt",
            "registeredAt", "name", "createdBy", "actor", "source", "endsAt", "title", "detail", "field",
            "nextAttemptAt",
            "path", "release", "url", "type", "error", "begins", "check",
        ]
        let members = names.map { "\"\($0)\":\"\(hostile)\"" }.joined(separator: ",")
        return
            "{\(members),\"counts\":{\"\(hostile)\":1},\"rejectedBy\":{\"\(hostile)\":1},\"filteredBy\":{},\"warnings\":[\"\(hostile)\"]}"
    }()

    private static let answer: String = {
        let list = "\"items\":[\(record)],\"next\":\"\(hostile)\",\"history\":[\(record)],\"errors\":[\(record)],"
        // An answer to a bump has objects where a device and a delivery have text.
        let plain = ["version", "campaign"].reduce(record) { $0.replacing("\"\($1)\":\"\(hostile)\",", with: "") }
        return plain.replacing(
            "{\"app\"", with: "{" + list + "\"version\":\(record),\"campaign\":\(record),\"app\"", maxReplacements: 1)
    }()

    /// Answers every request alike; a list has one record.
    private struct Parrot: APITransport {
        var status = 200

        func send(_ request: APIRequest) async throws -> APIAnswer {
            APIAnswer(status: status, body: Array(answer.utf8))
        }

        func pieces(
            _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
        ) async throws -> APIAnswer {
            guard status == 200 else { return try await send(request) }
            if request.accept == "text/csv" {
                var bytes = Array("telephone,version\n".utf8)
                CSVText.append([try JSONReader.read(Array(record.utf8))["telephone"]?.string, nil], to: &bytes)
                _ = try receive(bytes)
            } else {
                _ = try receive(Array((record + "\n").utf8))
            }
            return APIAnswer(status: 200, body: [])
        }
    }

    private static let commands = [
        "version show", "version show a", "version set a ios --required 2", "devices show ff",
        "devices export --app a --platform ios",
        "devices export --app a --platform ios --csv", "devices remove ff --yes", "devices show --telephone 1",
        "devices remove --telephone 1 --yes", "deliveries --campaign x --ndjson", "deliveries --campaign x --csv",
        "campaigns list", "campaigns show x",
        "campaigns pause x",
        "deliveries --campaign x", "deliveries --telephone x", "tokens list", "tokens create --name n --scope status",
        "tokens revoke n --yes", "sessions list", "sessions end n --yes", "notice show", "notice show a ios",
        "plan a ios --required 2",
        "notifications", "store check", "store prune --older-than 90d --yes", "store backup /nowhere/backup.db",
        "frobnicate \u{1B}[2J", "campaigns show --limit\u{1B}[2J", "devices show a\u{9B}2J b",
        "version set a \u{1B}[2J",
    ]

    @Test(arguments: commands, [200, 422])
    func `Nothing that a terminal obeys is printed`(command: String, status: Int) async {
        for words in [[], ["--json"]] where !(command.contains("--csv") && !words.isEmpty) {
            let transcript = Transcript()
            _ = await transcript.run(
                command.split(separator: " ").map(String.init) + words, Parrot(status: status))
            let printed = transcript.out + transcript.err
            #expect(
                !printed.isEmpty || command.hasPrefix("tokens revoke") || command.hasPrefix("sessions end")
                    || command.hasPrefix("devices remove"))
            let bad = printed.unicodeScalars.filter { DisplayWidth.isControl($0) && $0 != "\n" }
            #expect(
                bad.isEmpty,
                "\(command) \(words): \(bad.map { String($0.value, radix: 16) }) in \(printed.debugDescription)")
            // In CSV a line end in quotes is the field's (RFC 4180, 2.6).
            guard !command.contains("--csv") || status != 200 else { continue }
            #expect(!printed.split(separator: "\n").contains { $0.hasPrefix("forged") }, "\(command) \(words)")
        }
    }

    @Test func `JSON that is shown means the same`() throws {
        let shown = JSONText.shown(Array(Self.answer.utf8))
        #expect(shown != Self.answer)
        #expect(try JSONReader.read(Array(shown.utf8)) == JSONReader.read(Array(Self.answer.utf8)))
        #expect(JSONText.shown(Array("{\"a\":\"北京\"}".utf8)) == "{\"a\":\"北京\"}")
    }

    @Test func `An export for a file is what was stored`() async throws {
        let transcript = Transcript(isOutputTerminal: false)
        #expect(
            await transcript.run(["devices", "export", "--app", "a", "--platform", "ios", "--csv"], Parrot()) == .done)
        let stored = try #require(JSONReader.read(Array(Self.record.utf8))["telephone"]?.string)
        var written: [UInt8] = []
        CSVText.append([stored], to: &written)
        #expect(transcript.out.contains(String(decoding: written.dropLast(), as: UTF8.self)))
    }
}
