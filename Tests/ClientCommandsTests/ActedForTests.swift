// SPDX-License-Identifier: Apache-2.0
import Glibc
import OwnThread
import RelayStore
import Terminal
import Testing
import Threading
import WireFormat

@testable import ClientCommands

/// FAULTS 2.10: every link of `upgrade-relay page`, and every other act of root, was "root (uid 0)".
@Suite(.ownThread) struct ActedForTests {
    private struct Entry {
        var named: String?
        var user: UInt32
        var login: UInt32?
        var person: ActedFor?
    }

    private static let table = [
        Entry(named: nil, user: 0, login: 4_000_000, person: ActedFor("uid 4000000", isLogin: true)),
        Entry(named: nil, user: 0, login: 0, person: nil),
        Entry(named: nil, user: 0, login: nil, person: nil),
        Entry(named: nil, user: 4_000_000, login: 4_000_001, person: nil),
        Entry(named: " alice ", user: 0, login: 4_000_000, person: ActedFor("alice", isLogin: false)),
    ]

    @Test func `Root acts for the person who is named, else for the one who logged in`() throws {
        for entry in Self.table {
            #expect(try ActedFor.find(named: entry.named, user: entry.user, login: entry.login) == entry.person)
        }
        for name in ["", "a\u{202E}b"] {
            #expect(throws: UsageError.self) { try ActedFor.find(named: name, user: 0, login: nil) }
        }
    }

    @Test func `Another user than root cannot act for a person`() {
        let refusal = #expect(throws: UsageError.self) {
            try ActedFor.find(named: "alice", user: 4_000_000, login: nil)
        }
        #expect(refusal.map { "\($0)".contains("runs as uid 4000000") } == true)
    }

    /// The tests run as root, or as the user who develops.
    @Test func `Each act at the socket has the person's name`() async throws {
        let daemon = try RealDaemon()
        _ = try await daemon.register()
        let set = "version set \(RealDaemon.app) ios --required 2.0.0 --latest 2.1.0 --as alice"
        let result = await daemon.run(set)
        guard geteuid() == 0 else {
            #expect(result.code == .usage && result.err.contains("--as is for root"))
            return
        }
        #expect(result.code == .done)
        let taken = "version withdraw \(RealDaemon.app) ios --required 2.0.0 --yes --as bob"
        #expect(await daemon.run(taken).code == .done)
        let trail = await daemon.run("audit --json").out
        let shown = await daemon.run("version show \(RealDaemon.app) --json").out
        for name in ["root (uid 0) for alice", "root (uid 0) for bob"] {
            #expect(trail.contains("\"\(name)\""), "\(trail)")
            #expect(shown.contains("\"\(name)\""), "\(shown)")
        }
    }

    @Test func `With an address the API token is the name`() async throws {
        let daemon = try RealDaemon()
        let result = await daemon.run("audit --url http://127.0.0.1:1 --as alice")
        #expect(result.code == .usage)
    }
}
