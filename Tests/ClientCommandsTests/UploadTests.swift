// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import Synchronization
import Telemetry
import Terminal
import Testing

@testable import ClientCommands

@Suite struct UploadTests {
    /// A daemon that refuses lines with "zz" and gives the reasons of the first few of a request.
    private final class Registry: APITransport {
        struct Log {
            var lines: [[Substring]] = []
            var underWay = 0
            var mostUnderWay = 0
        }

        let told: Int
        let log = Mutex(Log())

        init(told: Int) {
            self.told = told
        }

        func send(_ request: APIRequest) async throws -> APIAnswer {
            let lines = String(decoding: request.body ?? [], as: UTF8.self).split(separator: "\n")
            log.withLock { log in
                log.lines.append(lines)
                log.underWay += 1
                log.mostUnderWay = max(log.mostUnderWay, log.underWay)
            }
            await Task.yield()
            log.withLock { $0.underWay -= 1 }
            let refused = lines.indices.filter { lines[$0].contains("zz") }
            let entries = refused.prefix(told).map { index in
                #"{"line":\#(index + 1),"reason":"of \#(lines[index].dropLast(2).suffix(6))"}"#
            }
            let body = """
                {"stored":\(lines.count - refused.count),"new":\(lines.count - refused.count),"refusedCount":\(refused.count),\
                "refused":[\(entries.joined(separator: ","))]}
                """
            return APIAnswer(status: 200, body: Array(body.utf8))
        }

        func pieces(
            _ request: APIRequest, receive: @escaping @Sendable ([UInt8]) throws -> Bool
        ) async throws -> APIAnswer { try await send(request) }
    }

    private func device(_ line: Int, isGood: Bool = true, app: String = "a") -> DeviceReader.Item {
        let number = String(String(1_000_000 + line).suffix(6))
        return .device(
            line: line,
            DeviceLine(app: app, platform: "ios", json: Array("{\"token\":\"\(isGood ? "ff" : "zz")\(number)\"}".utf8)))
    }

    @Test func `Every refused line is told, also where the relay tells of a few only`() async throws {
        let registry = Registry(told: 3)
        var upload = DeviceUpload(RelayClient(registry))
        // In the file every other line is blank.
        let items = (1...40).map { device(2 * $0, isGood: $0 % 4 != 0) }
        try await upload.add(items)
        try await upload.finish()
        #expect(upload.tally == DeviceUpload.Tally(stored: 30, new: 30, refusedCount: 10))
        let refused = upload.takeRefused()
        #expect(refused.map(\.line) == Array(stride(from: 8, through: 80, by: 8)))
        #expect(refused.allSatisfy { Int($0.reason.dropFirst(3)) == $0.line }, "\(refused)")
        #expect(registry.log.withLock { $0.lines.map(\.count) } == [40, 28, 16, 4])
    }

    @Test func `Requests follow one another, and keep the order of the file`() async throws {
        let registry = Registry(told: 10)
        var upload = DeviceUpload(RelayClient(registry))
        let count = DeviceUpload.linesAtFirst + DeviceUpload.mostLines
        for start in stride(from: 1, through: count, by: 1000) {
            try await upload.add((start..<min(start + 1000, count + 1)).map { device($0) })
        }
        try await upload.finish()
        #expect(upload.tally == DeviceUpload.Tally(stored: Int64(count), new: Int64(count)))
        let log = registry.log.withLock { $0 }
        #expect(log.mostUnderWay == 1)
        #expect(log.lines.count >= 2)
        #expect(log.lines[0].count == DeviceUpload.linesAtFirst)
        #expect(log.lines.allSatisfy { $0.count <= DeviceUpload.mostLines })
        let lines = log.lines.flatMap(\.self)
        #expect(lines.count == count)
        #expect(zip(lines, 1...count).allSatisfy { Int($0.dropLast(2).suffix(6)) == $1 })
    }

    @Test func `Refused lines are told in the order of the file`() async throws {
        let registry = Registry(told: 10)
        var upload = DeviceUpload(RelayClient(registry))
        try await upload.add([
            device(2), .refused(RefusedLine(line: 3, reason: "here")), device(4, isGood: false), device(5),
            .refused(RefusedLine(line: 6, reason: "here")),
        ])
        #expect(upload.takeRefused().isEmpty, "line 2 is on its way")
        #expect(upload.settledLine == 1)
        try await upload.finish()
        #expect(upload.takeRefused().map(\.line) == [3, 4, 6])
        #expect(upload.settledLine == 6)
    }

    @Test func `An import that ends before its time says how far it came`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let count = DeviceUpload.linesAtFirst
        let lines = (1...2 * count - 1000).map { "a,ios,\(String($0 + 1_000_000, radix: 16))\n" }.joined()
        try ("app,platform,token\n" + lines).write(toFile: path, atomically: true, encoding: .utf8)
        let transcript = Transcript()
        let command = CommandEntry.devicesImport
        let arguments = try ArgumentParser(command.spec).parse([path, "--socket", "/nowhere"])
        let connection = try ConnectionOptions(arguments)
        let context = CommandContext(
            console: transcript.console, environment: [:], tree: CommandTree(commands: [command], leadingOptions: []))
        let run = ClientRun(arguments: arguments, connection: connection, context: context)
        var importing = try DeviceImporting(run, client: RelayClient(Registry(told: 10)))
        var looks = 0
        do {
            _ = try await importing.finish {
                looks += 1
                return looks > 2
            }
            Issue.record("it was not interrupted")
        } catch let failure as CommandFailure {
            #expect(failure.code == .failed)
            #expect(failure.message.hasPrefix("interrupted\nall up to line 16,385 are done: 16,384 new, "))
            #expect(failure.message.hasSuffix("importing the whole file again does no harm"), "\(failure.message)")
            // FAULTS 4: the progress ended with another number.
            let last = transcript.err.split(separator: "\n").last
            #expect(last?.contains("16,384 devices stored") == true, "\(transcript.err)")
        }
    }

    @Test func `A quote that is never closed costs its line alone`() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("import-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = (1...DeviceUpload.linesAtFirst).map { "a,ios,\(String($0, radix: 16))\n" }.joined()
        let text = "app,platform,token\n" + lines + "a,ios,\"never closed"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let transcript = Transcript()
        #expect(await transcript.run(["devices", "import", path], Registry(told: 10)) == .failed)
        #expect(transcript.err.contains("line \(DeviceUpload.linesAtFirst + 2): a quote is never closed"))
        #expect(transcript.out == "16,384 new, 0 updated, 0 unchanged, 1 refused\n", "\(transcript.err)")
    }

    @Test func `Devices of several apps go to their own, and share the room of one request`() async throws {
        let registry = Registry(told: 10)
        var upload = DeviceUpload(RelayClient(registry))
        let count = DeviceUpload.linesAtFirst
        try await upload.add((1...count).map { device($0, app: $0 % 2 == 0 ? "a" : "b") })
        try await upload.finish()
        #expect(upload.tally.stored == Int64(count))
        let log = registry.log.withLock { $0 }
        #expect(log.lines.first?.count == count / 2)
        for lines in log.lines {
            let parities = Set(lines.map { (Int($0.dropLast(2).suffix(6)) ?? 0) % 2 })
            #expect(parities.count == 1)
        }
    }
}
