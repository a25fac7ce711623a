// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The output and the exit status of a command of the real binary.
struct CommandResult {
    var status: Int32
    var output: String
    var errors: String

    /// The binary stands beside the test bundle, unless RELAY_BINARY names another build of it.
    static func binary() throws -> URL {
        if let path = ProcessInfo.processInfo.environment["RELAY_BINARY"] { return URL(filePath: path) }
        let folder = Bundle.main.bundleURL.deletingLastPathComponent()
        for candidate in [Bundle.main.bundleURL, folder].map({ $0.appending(path: "upgrade-relay") })
        where FileManager.default.isExecutableFile(atPath: candidate.path) {
            return candidate
        }
        throw Unexpected("no upgrade-relay beside \(Bundle.main.bundleURL.path)")
    }

    static func of(
        _ arguments: [String], program: URL? = nil, input: String? = nil, environment: [String: String] = [:]
    ) throws -> CommandResult {
        let process = Process()
        process.executableURL = try program ?? binary()
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        let errors = Pipe()
        let stdin = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = stdin
        try process.run()
        if let input { try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
        try stdin.fileHandleForWriting.close()
        // Small outputs: both fit the pipes' buffers.
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let complained = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return CommandResult(
            status: process.terminationStatus, output: String(decoding: printed, as: UTF8.self),
            errors: String(decoding: complained, as: UTF8.self))
    }
}
