// SPDX-License-Identifier: Apache-2.0
import Foundation
import OwnThread
import TestPeers

/// A real proxy of Debian's on loopback, as one process with a folder of its own.
final class RealProxy {
    let port: UInt16
    private let folder: URL
    private let process = Process()
    /// The proxy ends when the writing end of this pipe is closed, also by the end of the tests' process.
    private let lifeline = Pipe()

    /// squid, which alone resolves some names.
    ///
    /// - Parameters:
    ///   - names: the names that lead to loopback.
    ///   - identity: its certificate and key for clients that ask it by TLS; nil: they ask in clear.
    static func squid(names: [String], identity: TestIdentity? = nil) throws -> RealProxy {
        try RealProxy("/usr/sbin/squid") { folder, port in
            // The line must end with a newline: squid cuts off the last character.
            try Data("\((["127.0.0.1"] + names).joined(separator: " "))\n".utf8)
                .write(to: folder.appending(path: "hosts"))
            var listen = "http_port 127.0.0.1:\(port)"
            if let identity {
                // squid reads them as its own user.
                for (name, path) in [("chain.pem", identity.chainPath), ("key.pem", identity.keyPath)] {
                    let copy = folder.appending(path: name).path
                    try FileManager.default.copyItem(atPath: path, toPath: copy)
                    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy)
                }
                listen = "https_port 127.0.0.1:\(port) tls-cert=\(folder.path)/chain.pem tls-key=\(folder.path)/key.pem"
            }
            let text = """
                \(listen)
                pid_filename none
                hosts_file \(folder.path)/hosts
                dns_nameservers 127.0.0.1
                access_log stdio:\(folder.path)/access.log
                cache_log \(folder.path)/cache.log
                cache deny all
                cache_mem 0 MB
                coredump_dir \(folder.path)
                http_access allow all
                pinger_enable off
                shutdown_lifetime 0 seconds
                visible_hostname squid.relay.test
                """
            try Data(text.utf8).write(to: folder.appending(path: "squid.conf"))
            return ["-N", "-f", "\(folder.path)/squid.conf"]
        }
    }

    /// tinyproxy, which requires a user and a password. It resolves no names itself; `other`, before which it stands, does.
    static func tinyproxy(user: String, password: String, before other: RealProxy) throws -> RealProxy {
        try RealProxy("/usr/bin/tinyproxy") { folder, port in
            let text = """
                Port \(port)
                Listen 127.0.0.1
                Timeout 60
                Allow 127.0.0.1
                LogFile "\(folder.path)/access.log"
                LogLevel Connect
                BasicAuth \(user) \(password)
                Upstream http 127.0.0.1:\(other.port)
                """
            try Data(text.utf8).write(to: folder.appending(path: "tinyproxy.conf"))
            return ["-d", "-c", "\(folder.path)/tinyproxy.conf"]
        }
    }

    /// microsocks, a SOCKS 5 proxy. It uses the system's resolver; a preloaded library resolves the names before that.
    ///
    /// - Parameters:
    ///   - names: the names that lead to loopback.
    ///   - user: the one user and password that it accepts; nil: it requires none.
    static func microsocks(names: [String], user: (name: String, password: String)? = nil) throws -> RealProxy {
        let binary = "/usr/bin/microsocks"
        guard FileManager.default.isExecutableFile(atPath: binary) else {
            throw Unexpected("there is no \(binary); \"make test\" installs it")
        }
        return try RealProxy("/usr/bin/env") { folder, port in
            let hosts = folder.appending(path: "hosts").path
            try Data("127.0.0.1 \(names.joined(separator: " "))\n".utf8).write(to: URL(filePath: hosts))
            return ["LD_PRELOAD=libnss_wrapper.so", "NSS_WRAPPER_HOSTS=\(hosts)", binary, "-i", "127.0.0.1"]
                + ["-p", String(port)] + (user.map { ["-u", $0.name, "-P", $0.password] } ?? [])
        }
    }

    private init(_ binary: String, _ arguments: (URL, UInt16) throws -> [String]) throws {
        guard FileManager.default.isExecutableFile(atPath: binary) else {
            throw Unexpected("there is no \(binary); \"make test\" installs it")
        }
        folder = FileManager.default.temporaryDirectory.appending(path: "egress-\(UUID().uuidString.prefix(8))")
        // As root, squid works as another user.
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        port = try Loopback.ReservedPort().port
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            ["-c", #""$0" "$@" & read -r end; kill -9 $!"#, binary] + (try arguments(folder, port))
        process.standardInput = lifeline
        process.standardOutput = FileHandle.nullDevice
        let errors = folder.appending(path: "errors.log").path
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: errors) ?? .nullDevice
        try process.run()
        let deadline = ContinuousClock.now + .seconds(60) * Patience.factor
        while true {
            if let socket = try? Loopback.connect("127.0.0.1", port: port) {
                close(socket)
                return
            }
            guard ContinuousClock.now < deadline else { throw Unexpected("\(binary) does not listen") }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    deinit {
        try? lifeline.fileHandleForWriting.close()
        if process.isRunning { process.waitUntilExit() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// The proxy's own log of its requests, and its errors.
    var log: String {
        ["access.log", "errors.log"].map { name in
            (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)) ?? ""
        }.joined()
    }

    /// The servers that it was asked to connect to: "apns.relay.test:443".
    var targets: Set<String> {
        Set(log.matches(of: #/(?:CONNECT|connected to) ([^ ]+:\d+)/#).map { String($0.output.1) })
    }
}
