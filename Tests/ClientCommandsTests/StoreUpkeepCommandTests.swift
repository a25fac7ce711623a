// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import RelayEngine
import RelayStore
import Requirements
import Testing
import WireFormat

@testable import ClientCommands
@testable import Configuration
@testable import Terminal

@Suite("A backup's answer, taken apart")
struct BackupReaderTests {
    private static let answer = Array("{\"done\":1,\"total\":9}\n\n{\"done\":9,\"total\":9}\n{\"size\":5}\n12\n45".utf8)

    @Test("is the same however it is cut", arguments: 1...45)
    func cuts(length: Int) throws {
        var reader = BackupReader()
        var events: [BackupReader.Event] = []
        var rest = Self.answer[...]
        while !rest.isEmpty {
            events += try reader.feed(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        #expect(reader.isWhole)
        var data: [UInt8] = []
        var others: [BackupReader.Event] = []
        for event in events { if case .data(let bytes) = event { data += bytes } else { others.append(event) } }
        #expect(data == Array("12\n45".utf8))
        #expect(others == [.progress(done: 1, total: 9), .progress(done: 9, total: 9), .size(5)])
    }

    @Test("a part is not the whole, and more than the whole is none")
    func size() throws {
        var reader = BackupReader()
        _ = try reader.feed(Array(Self.answer.dropLast()))
        #expect(!reader.isWhole)
        _ = try reader.feed([1])
        #expect(reader.isWhole)
        #expect(throws: CommandFailure.self) { _ = try reader.feed([1]) }
    }

    @Test("what the daemon says went wrong is told")
    func error() {
        var reader = BackupReader()
        let failure = #expect(throws: CommandFailure.self) {
            _ = try reader.feed(Array("\n{\"error\":\"the disk is full\"}\n".utf8))
        }
        #expect(failure.map { "\($0)" }?.contains("the disk is full") == true)
        var other = BackupReader()
        #expect(throws: CommandFailure.self) { _ = try other.feed(Array("<html>\n".utf8)) }
        #expect(throws: CommandFailure.self) { _ = try other.feed([UInt8](repeating: 65, count: 9999)) }
    }
}

@Suite("Who is notified, in the configuration")
struct NotifyConfigurationTests {
    private func read(_ notify: String) throws -> (RelayConfiguration, [String]) {
        let text = #"{ "notify": \#(notify) }"#
        let (configuration, faults, _) = RelayConfiguration.read(try JSON5Reader.read(Array(text.utf8)).value)
        return (configuration, faults.map { "\($0.field): \($0.reason)" })
    }

    @Test("a receiver with everything and one with the least")
    func reads() throws {
        let (configuration, faults) = try read(
            #"""
            [{"url": "https://a.example/x?y=1", "secret": {"file": "/s"}, "events": ["campaign.completed"],
              "trustedCertificates": "/ca.pem"},
             {"url": "http://127.0.0.1:9/x", "secret": {"environment": "S"}},
             {"url": "https://chat.example/x", "format": "slack"}]
            """#)
        #expect(faults == [])
        #expect(
            configuration.notify.map(\.url) == [
                "https://a.example/x?y=1", "http://127.0.0.1:9/x", "https://chat.example/x",
            ])
        #expect(configuration.notify.map(\.format) == [.json, .json, .slack])
        #expect(configuration.notify[2].secret == nil)
        #expect(configuration.notify[0].events == [.completed])
        #expect(configuration.notify[0].egress.trustedCertificates == "/ca.pem")
        #expect(configuration.notify[1].events == EventType.usual)
        #expect(configuration.notify[1].secret == .environment("S"))
    }

    @Test(
        "each fault has its field",
        arguments: [
            (#"[{"url": "https://a.example/", "format": "teams"}]"#, "notify[0].format", "slack"),
            (#"[{}]"#, "notify[0].url", "missing"), (#"[{}]"#, "notify[0].secret", "missing"),
            (#"[{"url": "http://a.example/", "secret": {"file": "/s"}}]"#, "notify[0].url", "is not an https address"),
            (#"[{"url": "https://u:p@a.example/", "secret": {"file": "/s"}}]"#, "notify[0].url", "not an https"),
            (#"[{"url": "https://a.example/", "secret": "whsec_x"}]"#, "notify[0].secret", "never written here"),
            (
                #"[{"url": "https://a.example/", "secret": {"file": "/s"}, "events": ["campaign.done"]}]"#,
                "notify[0].events[0]", "\"campaign.done\" is not an event; \"campaign.waiting\","
            ),
            (
                #"[{"url": "https://a.example/", "secret": {"file": "/s"}, "events": []}]"#, "notify[0].events",
                "is empty"
            ),
            (
                #"[{"url": "https://a.example/", "secret": {"file": "/s"}, "event": 1}]"#, "notify[0].event",
                "unknown key"
            ),
            (
                #"[{"url": "https://a.example/", "secret": {"file": "/s"}}, {"url": "https://a.example/", "secret": {"file": "/s"}}]"#,
                "notify[1].url", "stands there twice"
            ),
            (#"{}"#, "notify", "is not a list"),
        ])
    func faults(notify: String, field: String, problem: String) throws {
        let faults = try read(notify).1
        #expect(faults.contains { $0.hasPrefix("\(field): ") && $0.contains(problem) }, "\(faults)")
    }

    @Test("how long things are kept")
    func keep() throws {
        func keep(_ text: String) throws -> (Duration?, Int) {
            let tree = try JSON5Reader.read(Array("{ store: { keep: \(text) } }".utf8)).value
            let (configuration, faults, _) = RelayConfiguration.read(tree)
            return (configuration.store.keep, faults.count)
        }
        #expect(try keep("null") == (nil, 0))
        #expect(try keep(#""90d""#) == (.seconds(90 * 86_400), 0))
        #expect(try keep(#""5m""#).1 == 1)
        #expect(try keep("90").1 == 1)
    }
}

@Suite struct BackupDestinationTests {
    @Test(arguments: ["/proc/none/relay.db", "/proc/relay.db"])
    func `A place that cannot be written is refused before anything is asked`(path: String) async {
        let transport = ScriptedTransport([:])
        let transcript = Transcript()
        #expect(await transcript.run(["store", "backup", path], transport) == .failed)
        #expect(transcript.err.hasPrefix("error: \(path) cannot be written: "))
        #expect(transport.requests.isEmpty)
    }

    @Test func `A copy for which there is no room is refused before it travels`() throws {
        let folder = FileManager.default.temporaryDirectory.path
        let file = try BackupFile("\(folder)/room-\(UUID().uuidString).db", replaces: false)
        try file.makeRoom(for: 1)
        let failure = #expect(throws: CommandFailure.self) { try file.makeRoom(for: .max) }
        #expect(failure?.message.contains("are free") == true)
        #expect(!FileManager.default.fileExists(atPath: file.partial))
    }
}
