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
    /// Nothing is ever written; it ends with us, also by SIGKILL, for those who watch it.
    private let lifeline = Pipe()
    let name: String

    /// - Parameter log: where standard error goes; nil: with ours.
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

    /// Where a program is among those that are installed; nil: nowhere.
    static func path(of program: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.map { "\($0)/\(program)" }.first(where: FileManager.default.isExecutableFile)
    }

    var identifier: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    /// The first line of its output, for those that say where they listen.
    func firstLine() throws -> String {
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), let byte = byte.first, byte != 0x0A {
            line.append(byte)
        }
        guard !line.isEmpty else { throw BenchError("\(name) ended before it was ready") }
        return String(decoding: line, as: UTF8.self)
    }

    /// All its output, once it has ended with exit code 0.
    func result() throws -> Data {
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            let said = String(decoding: data.suffix(500), as: UTF8.self)
            throw BenchError("\(name) ended with \(process.terminationStatus): \(said)")
        }
        return data
    }

    /// Ends it in order.
    /// - Returns: what it had still to say.
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
