// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import Threading

@Suite struct ChildProcessTests {
    /// Runs a line of the shell; returns its output and its end.
    private func run(_ line: String, folder: String = "/tmp") throws -> (text: String, end: ChildProcess.End) {
        let output = try PipeEnds()
        defer { close(output.reading) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let child = try ChildProcess(
            "/bin/sh", ["-c", line], in: folder,
            ChildProcess.Streams(input: null, output: output.writing, error: output.writing))
        close(output.writing)
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while case let count = read(output.reading, &piece, piece.count), count > 0 { text += piece[..<count] }
        return (String(decoding: text, as: UTF8.self), child.wait())
    }

    @Test func itsEndIsTold() throws {
        #expect(try run("exit 0").end == .exited(0))
        #expect(try run("exit 7").end == .exited(7))
        #expect(try run("kill -KILL $$").end == .killed(SIGKILL))
        #expect(try run("kill -TERM $$").end == .killed(SIGTERM))
    }

    @Test func itBeginsInItsFolderWithItsStreamsAndWordsAlone() throws {
        #expect(try run("pwd; echo \"$0\" >&2", folder: "/usr").text == "/usr\n/bin/sh\n")
        #expect(try run("printf %s \"$HOME\"").text == ProcessInfo.processInfo.environment["HOME"] ?? "")
        // A descriptor that any program may inherit.
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        #expect(try run("[ -e /proc/self/fd/\(descriptor) ] || echo closed").text == "closed\n")
        #expect(try run("[ \"$(cut -d ' ' -f 5 /proc/$$/stat)\" = $$ ] && echo own group").text == "own group\n")
    }

    /// A `NativeThread` blocks every signal; its child must not.
    @Test func noSignalIsBlockedInIt() throws {
        let mailbox = try Mailbox<String>()
        let thread = try NativeThread(name: "parent") {
            let text = try? run("grep SigBlk /proc/self/status").text
            mailbox.post(text ?? "")
        }
        thread.join()
        #expect(mailbox.take() == ["SigBlk:\t0000000000000000\n"])
    }

    @Test func aProgramThatIsNotThereIsAnError() {
        let error = #expect(throws: SystemError.self) { try ChildProcess("/nowhere/x", [], in: "/", .init()) }
        #expect(error?.description == "/nowhere/x: No such file or directory")
        #expect(throws: SystemError.self) { try ChildProcess("/bin/true", [], in: "/nowhere", .init()) }
    }

    /// Each of several waiters gets the end, and no signal is sent to a process that reuses its number.
    @Test func everybodyWhoWaitsHearsOfTheEnd() throws {
        let input = try PipeEnds()
        let child = try ChildProcess(
            "/bin/sh", ["-c", "read line; exit 3"], in: "/",
            ChildProcess.Streams(input: input.reading))
        close(input.reading)
        #expect(child.isRunning && child.end == nil)
        let ends = try Mailbox<ChildProcess.End>()
        let threads = try (0..<8).map { number in
            try NativeThread(name: "waits \(number)") { ends.post(child.wait()) }
        }
        close(input.writing)
        for thread in threads { thread.join() }
        #expect(ends.take() == Array(repeating: .exited(3), count: 8))
        #expect(!child.isRunning)
        child.send(SIGKILL)
        #expect(child.end == .exited(3))
    }

    @Test func whoIsToldToEndEnds() throws {
        let child = try ChildProcess("/bin/sleep", ["600"], in: "/", .init())
        child.send(SIGTERM)
        #expect(child.wait() == .killed(SIGTERM))
    }

    @Test func variablesAreThoseOfFoundation() {
        #expect(ProcessEnvironment.all == ProcessInfo.processInfo.environment)
        #expect(ProcessEnvironment.value("HOME") == ProcessInfo.processInfo.environment["HOME"])
        #expect(ProcessEnvironment.value("NO_SUCH_VARIABLE") == nil)
    }

    @Test func aFolderIsListedAndRemoved() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "folder-\(UUID())")
        let kept = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID())")
        defer { try? FileManager.default.removeItem(at: kept) }
        let inner = root.appending(path: "b/ü")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        for file in [root.appending(path: "a"), root.appending(path: ".c"), inner.appending(path: "d"), kept] {
            try Data("x".utf8).write(to: file)
        }
        try FileManager.default.createSymbolicLink(at: root.appending(path: "link"), withDestinationURL: kept)
        let names = try Folder.names(root.path)
        #expect(names.sorted() == [".c", "a", "b", "link"])
        #expect(try Set(names) == Set(FileManager.default.contentsOfDirectory(atPath: root.path)))
        Folder.remove(root.path)
        #expect(!FileManager.default.fileExists(atPath: root.path))
        #expect(FileManager.default.fileExists(atPath: kept.path), "a link is not followed")
        #expect(throws: SystemError.self) { try Folder.names(root.path) }
    }
}
