// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import Mutation

/// How a child ended is read from what timeout(1) makes of it.
@Suite struct ChildTests {
    private static func end(
        _ script: String, limit: Int = 60, until isEnough: ((String) -> Bool)? = nil
    ) throws -> Child.End {
        let folder = URL(filePath: NSTemporaryDirectory()).appending(path: "child-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try Child.run(
            ["sh", "-c", script], in: URL(filePath: "/"), limit: limit, log: folder.appending(path: "log"),
            until: isEnough
        ).end
    }

    @Test func codesAndSignalsAreApart() throws {
        #expect(try Self.end("exit 0") == .exited(0))
        #expect(try Self.end("exit 2") == .exited(2))
        #expect(try Self.end("kill -INT $$") == .killed(signal: SIGINT))
        #expect(try Self.end("kill -KILL $$") == .killed(signal: SIGKILL))
    }

    @Test func theEndOfItsTimeIsNoOther() throws {
        #expect(try Self.end("sleep 60", limit: 1) == .tookTooLong)
        #expect(try Self.end("trap '' TERM; sleep 60; sleep 60", limit: 1) == .tookTooLong)
        #expect(try Self.end("exit 124") == .exited(124))
        #expect(try Self.end("echo word; sleep 60", until: { $0.contains("word") }) == .wroteEnough)
    }
}
