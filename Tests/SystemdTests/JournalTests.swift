// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
import Telemetry
import Testing

@testable import Systemd

@Suite struct JournalTests {
    @Test func `An entry has its line, its priority and its fields`() {
        let entry = JournalEntry(
            .warning, line: "sending campaign=3f", event: "sending",
            fields: [("campaign", "3f"), ("controlSocket", "/run/a\nb"), ("apns.id", "1")])
        #expect(
            entry.assignments == [
                "MESSAGE=sending campaign=3f", "PRIORITY=4", "SYSLOG_IDENTIFIER=upgrade-relay", "RELAY_EVENT=sending",
                "RELAY_CAMPAIGN=3f", "RELAY_CONTROL_SOCKET=/run/a\nb", "RELAY_APNS_ID=1",
            ])
    }

    @Test(arguments: [("URL", "RELAY_URL"), ("listenURL", "RELAY_LISTEN_URL"), ("_x", "RELAY__X"), ("ü", "RELAY__")])
    func `Names are made of what journald takes`(name: String, field: String) {
        #expect(JournalEntry.name(name) == field)
        #expect(JournalEntry.name(String(repeating: "a", count: 100)).utf8.count == 64)
    }

    @Test func `Only the stream that the variable names is the journal`() {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        var status = stat()
        #expect(fstat(ends[1], &status) == 0)
        func isJournal(_ text: String?) -> Bool {
            Journal.isStandardError(environment: text.map { ["JOURNAL_STREAM": $0] } ?? [:], descriptor: ends[1])
        }
        #expect(isJournal("\(status.st_dev):\(status.st_ino)"))
        #expect(!isJournal("\(status.st_dev):\(status.st_ino + 1)"), "redirected since")
        #expect(!isJournal("\(status.st_dev + 1):\(status.st_ino)"))
        for text in [nil, "", ":", "1", "a:b", "\(status.st_dev):\(status.st_ino):0"] { #expect(!isJournal(text)) }
    }
}
