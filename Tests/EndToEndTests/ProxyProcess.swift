// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread

/// A real proxy (Debian's) in a folder of its own, as one process that is no service and needs no rights. It listens at sockets in
/// the folder, and also plays the backend behind itself.
final class ProxyProcess {
    /// The backend's answer.
    static let backend = "the backend has it"

    let folder: URL
    private let process = Process()
    /// The proxy ends when the writing end of this pipe is closed, also by the end of the tests' process.
    private let lifeline = Pipe()

    var path: String { folder.path }
    private var socket: String { folder.appending(path: "front.sock").path }

    init(_ name: String) throws {
        // The path of a socket has at most 107 bytes (unix(7)).
        folder = FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Starts the proxy; returns when `files` exist and it answers.
    func start(_ binary: String, _ arguments: [String], untilThereAre files: [String]) throws {
        guard FileManager.default.isExecutableFile(atPath: binary) else {
            throw Unexpected("there is no \(binary); \"make test\" installs it")
        }
        // The shell ends the proxy also when the test dies. By SIGKILL: the proxy may inherit a mask that blocks other signals.
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", #""$0" "$@" & read -r end; kill -9 $!"#, binary] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["HOME": path, "XDG_DATA_HOME": path, "XDG_CONFIG_HOME": path]
        ) { $1 }
        process.standardInput = lifeline
        let watch = try FolderWatch(path)
        try process.run()
        let deadline = ContinuousClock.now + .seconds(60) * Patience.factor
        while !files.allSatisfy({ FileManager.default.fileExists(atPath: "\(path)/\($0)") }) {
            guard ContinuousClock.now < deadline else {
                throw Unexpected("\(binary) did not start; its words are above")
            }
            watch.wait(for: .milliseconds(100))
        }
        // A socket has its file a moment before it listens.
        while (try? ask("OPTIONS")) == nil {
            guard ContinuousClock.now < deadline else { throw Unexpected("\(binary) does not answer") }
            watch.wait(for: .milliseconds(10))
        }
    }

    deinit {
        try? lifeline.fileHandleForWriting.close()
        if process.isRunning { process.waitUntilExit() }
        try? FileManager.default.removeItem(at: folder)
    }

    func ask(
        _ method: String = "GET", _ path: String = "/", headers: [(String, String)] = [], body: String? = nil
    ) throws -> HTTPResponse {
        var request = HTTPRequest(method, "http://api.example.com\(path)")
        request.headers = headers.map { (name: $0.0, value: $0.1) }
        if let body { request.body = Array(body.utf8) }
        return try HTTPClient(unixSocket: socket).send(request)
    }
}
