// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import RelayStore
import Requirements
import Testing
import UpgradeRules
import VersionSources

@Suite("A watched file", .ownThread)
struct FileWatchTests {
    private func withBench(_ body: (SourceBench, String) throws -> Void) throws {
        let bench = try SourceBench()
        defer { bench.stop() }
        try FileManager.default.createDirectory(
            at: bench.folder.appending(path: "gate"), withIntermediateDirectories: true)
        let file = bench.path("gate/gate.json")
        try write("1.0", to: file)
        try bench.start([.launchGateFile(path: file)])
        bench.wait("the file is read at the start") { $0.bumps.count == 1 }
        try body(bench, file)
        // A writer that does not get to run for a second between two steps leaves a fault that is over soon.
        let lines = bench.seen.now.log
        #expect(lines.count { $0.contains("fails") } == lines.count { $0.contains("well again") }, "\(lines)")
    }

    private func write(_ version: String, to path: String, atomically: Bool = false) throws {
        try Data(SourceBench.document(required: version).utf8).write(
            to: URL(filePath: path), options: atomically ? .atomic : [])
    }

    private func expect(_ bench: SourceBench, _ version: String) throws {
        bench.wait("\(version) is stored") { $0.bumps.last?.required?.text == version }
        #expect(try bench.store.version(of: SourceBench.app)?.required?.text == version)
    }

    @Test("written in place")
    func inPlace() throws {
        try withBench { bench, file in
            for version in ["1.1", "1.2", "1.3"] {
                try write(version, to: file)
                try expect(bench, version)
            }
        }
    }

    @Test("renamed over")
    func renamedOver() throws {
        try withBench { bench, file in
            for version in ["1.1", "1.2"] {
                try write(version, to: file + ".new")
                #expect(rename(file + ".new", file) == 0)
                try expect(bench, version)
            }
        }
    }

    @Test("as vim does it: moved to a backup, written anew, the backup removed")
    func editor() throws {
        try withBench { bench, file in
            for version in ["1.1", "1.2"] {
                #expect(rename(file, file + "~") == 0)
                try write(version, to: file)
                #expect(unlink(file + "~") == 0)
                try expect(bench, version)
            }
        }
    }

    @Test("deleted and made again, in pieces")
    func recreated() throws {
        try withBench { bench, file in
            #expect(unlink(file) == 0)
            let text = SourceBench.document(required: "1.1")
            #expect(FileManager.default.createFile(atPath: file, contents: nil))
            let handle = try FileHandle(forWritingTo: URL(filePath: file))
            try handle.write(contentsOf: Data(text.utf8.prefix(20)))
            try handle.write(contentsOf: Data(text.utf8.dropFirst(20)))
            try handle.close()
            try expect(bench, "1.1")
        }
    }

    @Test("behind a symbolic link that is exchanged")
    func link() throws {
        try withBench { bench, file in
            try write("1.1", to: bench.path("gate/one"))
            #expect(symlink("one", bench.path("gate/next")) == 0)
            #expect(rename(bench.path("gate/next"), file) == 0)
            try expect(bench, "1.1")
        }
    }

    @Test("its directory is replaced")
    func directory() throws {
        try withBench { bench, file in
            try FileManager.default.createDirectory(
                at: bench.folder.appending(path: "other"), withIntermediateDirectories: true)
            try write("1.1", to: bench.path("other/gate.json"))
            #expect(rename(bench.path("gate"), bench.path("old")) == 0)
            #expect(rename(bench.path("other"), bench.path("gate")) == 0)
            try expect(bench, "1.1")
            try write("1.2", to: file)
            try expect(bench, "1.2")
        }
    }

    @Test("missing, broken, too large or older: reported once, nothing changes, and well again")
    func faults() throws {
        let bench = try SourceBench()
        defer { bench.stop() }
        let file = bench.path("gate.json")
        try bench.start([.launchGateFile(path: file)])
        bench.wait("missing") { $0.log.count == 1 }
        #expect(bench.runner.faults()["\(bench.part)launchGate"] == "the file \(file): No such file or directory")
        var expected = 1
        for wrong in ["<html>", String(repeating: "x", count: 300 << 10), SourceBench.document(required: "0.9")] {
            try write("1.0", to: file)
            expected += 1
            bench.wait("well again") { $0.log.count == expected }
            #expect(bench.runner.faults().isEmpty)
            try Data(wrong.utf8).write(to: URL(filePath: file))
            expected += 1
            bench.wait("a fault") { $0.log.count == expected }
            #expect(bench.runner.faults().count == 1)
        }
        #expect(try bench.store.version(of: SourceBench.app)?.required?.text == "1.0")
    }
}
