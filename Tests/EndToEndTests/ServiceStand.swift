// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing

/// Plays systemd for the daemon, which is the real binary: listens for its messages, opens its sockets, and starts it with the
/// environment of sd_notify(3), sd_listen_fds(3) and sd_watchdog_enabled(3).
final class ServiceStand {
    enum NotifyName {
        case path
        /// With an "@" in the variable and a null byte in the address (unix(7)).
        case abstract
    }

    private let folder: URL
    private let notifyDescriptor: Int32
    private let notifyName: String
    private var process: pid_t = 0
    /// The processor time of the last daemon, once it was waited for.
    private(set) var processorTime = Duration.zero
    /// The daemon's standard error: read only where a test asks for it.
    let logPipe = Pipe()
    private(set) var log: LogReader?

    init(in folder: URL, notify: NotifyName = .path) throws {
        self.folder = folder
        let path = folder.appending(path: "notify").path
        notifyName = notify == .path ? path : "@relay-\(UUID().uuidString)"
        notifyDescriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let address = notify == .path ? path : "\0\(notifyName.dropFirst())"
        guard Self.bind(notifyDescriptor, to: address) == 0 else { throw Unexpected("notify socket: error \(errno)") }
    }

    deinit {
        if process > 0 {
            kill(process, SIGKILL)
            _ = wait()
        }
        close(notifyDescriptor)
    }

    // MARK: Sockets

    /// A listening socket as systemd opens it; the caller keeps it.
    static func networkSocket() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = high(socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, length) + listen(descriptor, 128) + getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0 else { throw Unexpected("TCP socket: error \(errno)") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    static func localSocket(_ path: String) throws -> Int32 {
        let descriptor = high(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        guard bind(descriptor, to: path) == 0, listen(descriptor, 128) == 0 else {
            throw Unexpected("\(path): error \(errno)")
        }
        return descriptor
    }

    private static func bind(_ descriptor: Int32, to name: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(name.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // The length ends an abstract name, and may end a path.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, length) }
        }
    }

    /// Moves a descriptor away from the numbers at which the daemon expects its sockets.
    private static func high(_ descriptor: Int32) -> Int32 {
        defer { close(descriptor) }
        return fcntl(descriptor, F_DUPFD_CLOEXEC, 200)
    }

    // MARK: The daemon

    /// Starts `serve`; the sockets become its descriptors 3 and up, under these names.
    ///
    /// - Parameter wrapper: a program with its arguments that becomes the daemon.
    func start(
        configuration: String, sockets: [(name: String, descriptor: Int32)] = [], watchdog: Duration? = nil,
        readsLog: Bool = true, wrapper: [String] = []
    ) throws {
        var variables = ["NOTIFY_SOCKET=\(notifyName)", "PATH=/usr/bin:/bin"]
        // Without its options a sanitizer reports what the project's list suppresses, to a log that no test reads.
        variables += ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }.map {
            "\($0)=\($1)"
        }
        // Both ids are the daemon's own: the shell becomes the daemon.
        var script = "exec \"$0\" \"$@\""
        if let watchdog {
            variables.append("WATCHDOG_USEC=\(watchdog.components.seconds * 1_000_000)")
            script = "export WATCHDOG_PID=$$; \(script)"
        }
        if !sockets.isEmpty {
            variables.append("LISTEN_FDS=\(sockets.count)")
            variables.append("LISTEN_FDNAMES=\(sockets.map(\.name).joined(separator: ":"))")
            script = "export LISTEN_PID=$$; \(script)"
        }
        let daemon = [try CommandResult.binary().path, "serve", "--config", configuration]
        let words = ["/bin/sh", "-c", script] + wrapper + daemon

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, logPipe.fileHandleForWriting.fileDescriptor, STDERR_FILENO)
        for (index, socket) in sockets.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, socket.descriptor, Int32(3 + index))
        }
        // Foundation's pipes are inherited (they have no O_CLOEXEC). Those of other tests are closed here: their readers would wait
        // for this daemon's end.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // Closing a number that is not open is no fault there, one above the limit is (glibc, posix_spawn).
        for number in Int32(3 + sockets.count)..<Int32(clamping: min(limit.rlim_cur, 4096)) {
            posix_spawn_file_actions_addclose(&actions, number)
        }
        let arguments = words.map { strdup($0) } + [nil]
        let environment = variables.map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        let status = posix_spawn(&process, "/bin/sh", &actions, nil, arguments, environment)
        guard status == 0 else { throw Unexpected("posix_spawn: error \(status)") }
        if readsLog, log == nil { log = LogReader(logPipe.fileHandleForReading) }
    }

    var identifier: Int32 { process }

    func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Waits for its end, and reads and drops its messages until then: systemd always reads, and a daemon whose messages are not
    /// read blocks at the eleventh (net.unix.max_dgram_qlen).
    ///
    /// - Returns: the exit status; nil where a signal ended it.
    @discardableResult
    func wait() -> Int32? {
        var status: Int32 = 0
        var used = rusage()
        while true {
            let ended = wait4(process, &status, WNOHANG, &used)
            if ended == process || (ended < 0 && errno != EINTR) { break }
            var request = pollfd(fd: notifyDescriptor, events: Int16(POLLIN), revents: 0)
            if poll(&request, 1, 20) > 0 {
                var byte: UInt8 = 0
                _ = recv(notifyDescriptor, &byte, 1, Int32(MSG_DONTWAIT))
            }
        }
        processorTime = [used.ru_utime, used.ru_stime].reduce(.zero) {
            $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec)
        }
        process = 0
        return status & 0x7f == 0 ? status >> 8 & 0xff : nil
    }

    // MARK: Messages

    /// Reads messages until one assigns `name` a text that begins with `value`.
    ///
    /// - Returns: all assignments of that message; nil when none has come by the deadline.
    func message(
        _ name: String, _ value: String = "", within deadline: Duration = .seconds(60)
    ) -> [String: String]? {
        let end = ContinuousClock.now + deadline
        while true {
            let rest = end - ContinuousClock.now
            let milliseconds = rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000
            var request = pollfd(fd: notifyDescriptor, events: Int16(POLLIN), revents: 0)
            guard milliseconds > 0, poll(&request, 1, Int32(milliseconds)) > 0 else { return nil }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(notifyDescriptor, &bytes, bytes.count, 0)
            guard count > 0 else { return nil }
            var message: [String: String] = [:]
            for line in String(decoding: bytes.prefix(count), as: UTF8.self).split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                message[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
            }
            if message[name]?.hasPrefix(value) == true { return message }
        }
    }
}
