// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import Testing

/// One store has one daemon, by whatever name the store is called.
@Suite(.serialized, .ownThread) struct SecondDaemonTests {
    /// How the second daemon names the store of the first.
    enum Name: String, CaseIterable, CustomStringConvertible {
        case same, relative, symbolicLink, symbolicLinkToFolder, hardLink

        var description: String { rawValue }

        func path(in folder: URL) throws -> String {
            let files = FileManager.default
            let store = folder.appending(path: "relay.db")
            switch self {
            case .same:
                return store.path
            case .relative:
                try files.createDirectory(at: folder.appending(path: "sub"), withIntermediateDirectories: true)
                return folder.path + "/sub/.././relay.db"
            case .symbolicLink:
                let link = folder.appending(path: "link.db")
                try files.createSymbolicLink(at: link, withDestinationURL: store)
                return link.path
            case .symbolicLinkToFolder:
                let link = folder.appending(path: "linked")
                try files.createSymbolicLink(at: link, withDestinationURL: folder)
                return link.path + "/relay.db"
            case .hardLink:
                let link = folder.appending(path: "hard.db")
                try files.linkItem(at: store, to: link)
                return link.path
            }
        }
    }

    @Test(arguments: Name.allCases) func aSecondDaemonIsRefused(name: Name) throws {
        let bench = try Workbench()
        try bench.start()
        try bench.register(Fleet(count: 10))
        let path = try name.path(in: bench.folder)
        let result = try second(bench, store: path)
        #expect(result.status == 1)
        #expect(result.errors.contains("another daemon works on \(path)\n"), "\(result.errors)")
        #expect(result.errors.contains("hint: one store has one daemon"))
        #expect(!result.errors.contains(" ready "))
        // The first does not notice.
        let end = try bench.follow(try bench.campaign(of: bench.bump("2.0.0"))) { $0.isFinal }
        #expect(end.counts["accepted"] == 10)
        // SQLite's own lock is still in place: closing a descriptor of the file drops the locks of the closing process only.
        #expect(try bench.sql("PRAGMA integrity_check").output == "ok\n")
    }

    @Test func theLockGoesWithTheProcessHoweverItEnds() throws {
        let bench = try Workbench()
        try bench.start()
        bench.kill()
        try bench.start()
        #expect(try bench.api("GET", "/healthz").status == 200)
    }

    @Test func aStoreThatWasExchangedUnderItsDaemonIsStillItsOwn() throws {
        let bench = try Workbench()
        try bench.start()
        let store = bench.folder.appending(path: "relay.db")
        try FileManager.default.moveItem(at: store, to: bench.folder.appending(path: "moved.db"))
        let result = try second(bench, store: store.path)
        #expect(result.status == 1)
        #expect(result.errors.contains("another daemon works on \(store.path)"))
    }

    @Test func severalNamesAreWarnedOf() throws {
        let bench = try Workbench()
        try bench.start()
        #expect(!(try #require(bench.relay)).log.contains("several names"))
        bench.kill()
        _ = try Name.hardLink.path(in: bench.folder)
        try bench.start()
        #expect((try #require(bench.relay)).log.contains("the store's file has several names"))
    }

    /// Runs another daemon with its own control socket, so that only the store can refuse it.
    private func second(_ bench: Workbench, store: String) throws -> CommandResult {
        let text = try String(contentsOfFile: bench.path("config.json5"), encoding: .utf8)
            .replacing(bench.path("relay.db"), with: store)
            .replacing(bench.path("control.sock"), with: bench.path("second.sock"))
        try Data(text.utf8).write(to: bench.folder.appending(path: "second.json5"))
        // If it starts after all, its empty input ends it.
        return try CommandResult.of(["serve", "--config", bench.path("second.json5"), "--stop-at-eof"])
    }
}
