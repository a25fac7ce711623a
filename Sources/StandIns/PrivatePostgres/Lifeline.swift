// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import Threading

/// A program that ends when its input does: when this object is released, or this process is gone.
final class Lifeline: Sendable {
    private struct Ends {
        let input: CInt
        let output: CInt
        var hasEnded = false

        /// The next line; "" at the end of the output, and once `end` was called.
        func line() throws(SystemError) -> String {
            guard !hasEnded else { return "" }
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while true {
                let count = unsafe read(output, &byte, 1)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw SystemError("read", errno: errno) }
                guard count == 1, byte != 0x0A else { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
        }
    }

    private let process: ChildProcess
    private let ends: Mutex<Ends>

    /// - Parameter user: the user that runs it; nil: this process's user.
    init(as user: String?, _ command: [String]) throws {
        let words = user.map { ["/usr/bin/setpriv", "--reuid=\($0)", "--regid=\($0)", "--clear-groups", "--"] } ?? []
        let all = words + command
        let input = try PipeEnds()
        let output: PipeEnds
        do {
            output = try PipeEnds()
        } catch {
            for end in [input.reading, input.writing] { close(end) }
            throw error
        }
        // The program has its own copies of these two now, or did not start.
        defer { for end in [input.reading, output.writing] { close(end) } }
        do {
            // Its own process group keeps a terminal's Ctrl-C from it. It runs in /tmp, because its user may have no access
            // to our folder.
            process = try ChildProcess(
                all[0], Array(all.dropFirst()), in: "/tmp",
                ChildProcess.Streams(input: input.reading, output: output.writing))
        } catch {
            for end in [input.writing, output.reading] { close(end) }
            throw error
        }
        ends = Mutex(Ends(input: input.writing, output: output.reading))
    }

    deinit { end() }

    /// Ends the program, and returns when it has ended.
    func end() {
        ends.withLock { ends in
            guard !ends.hasEnded else { return }
            ends.hasEnded = true
            close(ends.input)
            process.wait()
            close(ends.output)
        }
    }

    /// The next line that the program writes; "" where it has ended.
    func line() throws -> String { try ends.withLock { try $0.line() } }

    /// Sends the program a line; returns its answer, also a line.
    func ask(_ command: String) throws -> String {
        try ends.withLock { ends in
            guard !ends.hasEnded, WholeFile.append(Array("\(command)\n".utf8), to: ends.input) else {
                throw SystemError("write", errno: ends.hasEnded ? EBADF : errno)
            }
            return try ends.line()
        }
    }
}
