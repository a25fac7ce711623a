// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Testing

/// A real nginx (Debian's) in a folder of its own, as one process that is no service and needs no rights.
final class Nginx {
    static let binary = "/usr/sbin/nginx"

    private let folder: URL
    private let process = Process()
    /// It ends with what holds the other end of this.
    private let lifeline = Pipe()
    private var socket: String { folder.appending(path: "front.sock").path }

    /// What there is behind it, in its own words.
    static let backend = "the backend has it"

    /// Returns when it listens.
    ///
    /// - Parameters:
    ///   - servers: what stands in `http { }`. It listens at 80, which here is a socket in the folder, as `http://backend` is.
    init(_ servers: String) throws {
        try #require(
            FileManager.default.isExecutableFile(atPath: Self.binary),
            "there is no \(Self.binary); \"make test\" installs it")
        // The path of a socket has at most 107 bytes (unix(7)).
        folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "    \($0)_temp_path \(path)/\($0);"
        }
        let configuration = """
            pid \(path)/pid;
            error_log stderr;
            events {}
            http {
                access_log off;
            \(temporary.joined(separator: "\n"))
                upstream backend { server unix:\(path)/backend.sock; }
                server {
                    listen unix:\(path)/backend.sock;
                    location / { return 200 "\(Self.backend)"; }
                    location /forbidden { return 403 "the backend forbids it"; }
                }
            \(servers.replacing("listen 80;", with: "listen unix:\(path)/front.sock;"))
            }
            """
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        // Also where the test dies. SIGKILL: what blocks the others is inherited.
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", #""$0" "$@" & read -r end; kill -9 $!"#, Self.binary, "-p", path, "-c", "\(path)/nginx.conf",
            "-e", "stderr", "-g", "daemon off; master_process off;",
        ]
        process.standardInput = lifeline
        let watch = try FolderWatch(path)
        try process.run()
        // It writes its number when it listens (ngx_init_cycle).
        let deadline = ContinuousClock.now + .seconds(60) * Patience.factor
        while !FileManager.default.fileExists(atPath: "\(path)/pid") {
            guard ContinuousClock.now < deadline else { throw Unexpected("nginx did not start; its words are above") }
            watch.wait(for: .milliseconds(100))
        }
    }

    deinit {
        try? lifeline.fileHandleForWriting.close()
        process.waitUntilExit()
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
