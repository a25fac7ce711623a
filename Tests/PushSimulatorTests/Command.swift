// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator

/// Runs a program to its end.
func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // Neither text fills a pipe, so reading one after the other cannot block the program.
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    let errorText = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (
        process.terminationStatus, String(decoding: text, as: UTF8.self), String(decoding: errorText, as: UTF8.self)
    )
}

extension RunningSimulator {
    /// One push with Debian's curl: an HTTP/2 client that shares none of our code.
    func curl(
        _ headers: [(String, String)], payload: String = Fixture.payload, options: [String] = ["--http2"]
    ) throws -> (status: Int32, output: String, errors: String) {
        let path = headers.first { $0.0 == ":path" }?.1 ?? "/"
        let method = headers.first { $0.0 == ":method" }?.1 ?? "POST"
        var arguments = ["-sS", "--max-time", "60", "-D", "-", "--cacert", authority, "-X", method] + options
        for (name, value) in headers where !name.hasPrefix(":") { arguments += ["-H", "\(name): \(value)"] }
        arguments += ["--data-binary", payload, "https://localhost:\(simulator.port)\(path)"]
        return try run("/usr/bin/curl", arguments)
    }
}
