// SPDX-License-Identifier: Apache-2.0
import Foundation

struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Another program that runs for the benchmark.
final class Child {
    private let process = Process()
    private let output = Pipe()
    /// Nothing is ever written to it. It closes when this process ends, also by SIGKILL, for children that watch it.
    private let lifeline = Pipe()
    let name: String

    /// - Parameter log: the file for standard error; nil: standard error is shared with this process.
    init(_ path: String, _ arguments: [String], log: String? = nil) throws {
        name = URL(fileURLWithPath: path).lastPathComponent + " " + (arguments.first ?? "")
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = lifeline
        process.standardOutput = output
        if let log {
            try Data().write(to: URL(fileURLWithPath: log))
            process.standardError = FileHandle(forWritingAtPath: log)
        }
        do { try process.run() } catch { throw BenchError("\(path) cannot be run: \(error.localizedDescription)") }
    }

    /// The path of an installed program; nil: it is not installed.
    static func path(of program: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.map { "\($0)/\(program)" }.first(where: FileManager.default.isExecutableFile)
    }

    var identifier: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    /// The first line of its output, for programs that print where they listen.
    func firstLine() throws -> String {
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), let byte = byte.first, byte != 0x0A {
            line.append(byte)
        }
        guard !line.isEmpty else { throw BenchError("\(name) ended before it was ready") }
        return String(decoding: line, as: UTF8.self)
    }

    /// All of its output, once it has ended with exit code 0.
    func result() throws -> Data {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            let said = String(decoding: data.suffix(500), as: UTF8.self)
            throw BenchError("\(name) ended with \(process.terminationStatus): \(said)")
        }
        return data
    }

    /// Ends the program in order.
    /// - Returns: the rest of its output.
    @discardableResult
    func stop() -> Data {
        guard process.isRunning else { return Data() }
        process.terminate()
        let rest = try? output.fileHandleForReading.readToEnd()
        process.waitUntilExit()
        return rest ?? Data()
    }

    func kill() {
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
