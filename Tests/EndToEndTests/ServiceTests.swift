// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import PushSimulator
import TestPeers
import Testing

/// The daemon as a service: the messages that it sends its manager, and the sockets that it gets from it.
@Suite(.timeLimit(.minutes(60)), .ownThread) struct ServiceTests {
    private let version = "/v1/apps/\(Workbench.app)/ios/version"
    private let bump = Array(#"{"required":"2.0.0"}"#.utf8)

    @Test(arguments: [ServiceStand.NotifyName.path, .abstract])
    func itTellsHowItsLifeGoes(notify: ServiceStand.NotifyName) throws {
        // No answer comes before the daemon gives up waiting, however late it is stopped.
        let bench = try Workbench { $0.latency = .seconds(60) }
        let stand = try ServiceStand(in: bench.folder, notify: notify)
        try stand.start(configuration: bench.path("config.json5"), watchdog: .seconds(4))
        #expect(stand.message("STATUS", "Opening the store") != nil)
        let ready = try #require(stand.message("READY", "1"))
        #expect(ready["STATUS"]?.hasPrefix("Idle: 1 app, listening on 127.0.0.1:") == true)
        #expect(stand.message("WATCHDOG", "1") != nil)

        let before = Self.monotonicMicroseconds()
        stand.send(SIGHUP)
        let reloading = try #require(stand.message("RELOADING", "1"))
        let moment = try #require(reloading["MONOTONIC_USEC"].flatMap { Int64($0) })
        #expect((before...Self.monotonicMicroseconds()).contains(moment))
        #expect(stand.message("READY", "1") != nil)

        try bench.register(Fleet(count: 5_000))
        _ = try bench.campaign(of: bench.api("PUT", version, body: bump))
        let sending = try #require(stand.message("STATUS", "Sending "))
        let line = try #require(sending["STATUS"])
        #expect(line.hasPrefix("Sending \(Workbench.app) ios 2.0.0: "))
        #expect(line.contains(" of 5,000 ("))
        #expect(line.hasSuffix("/s"))
        stand.send(SIGTERM)
        let stopping = try #require(stand.message("STOPPING", "1"))
        #expect(stopping["STATUS"]?.hasPrefix("Finishing what is in flight") == true)
        // One comes right after STOPPING, and one with each look, a second apart, while answers are waited for.
        for _ in 1...2 { #expect(stand.message("EXTEND_TIMEOUT_USEC", "10000000") != nil) }
        #expect(stand.wait() == 0)
    }

    @Test func aRefusedReloadIsOverAndShows() throws {
        let bench = try Workbench()
        let stand = try ServiceStand(in: bench.folder)
        try stand.start(configuration: bench.path("config.json5"))
        #expect(stand.message("READY") != nil)
        try Data("{ apps: { x: 1 } }".utf8).write(to: bench.folder.appending(path: "config.json5"))
        stand.send(SIGHUP)
        #expect(stand.message("RELOADING") != nil)
        let ready = try #require(stand.message("READY"))
        #expect(ready["STATUS"]?.contains("the last reload was refused, see the log") == true)
    }

    /// The log's reader stops reading, so that the next line of the fan-out blocks it: the thread is really stuck, and can be
    /// released.
    @Test func aStuckFanOutStopsThePingUntilItGetsOn() throws {
        let bench = try Workbench()
        let stand = try ServiceStand(in: bench.folder)
        try stand.start(configuration: bench.path("config.json5"), watchdog: .seconds(4), readsLog: false)
        #expect(stand.message("READY") != nil)
        try bench.register(Fleet(count: 10))
        #expect(stand.message("WATCHDOG") != nil)

        // A file description of its own: the daemon's writes must go on blocking.
        let pipe = stand.logPipe.fileHandleForWriting.fileDescriptor
        let filler = open("/proc/self/fd/\(pipe)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        #expect(filler >= 0)
        defer { close(filler) }
        while write(filler, "\n", 1) == 1 {}
        #expect(errno == EAGAIN)
        _ = try bench.api("PUT", version, body: bump)
        #expect(stand.message("STATUS", "Stuck: fan-out") != nil)
        #expect(stand.message("WATCHDOG", within: .seconds(3)) == nil, "systemd would end it now")

        let reader = LogReader(stand.logPipe.fileHandleForReading)
        #expect(stand.message("WATCHDOG") != nil, "it gets on")
        #expect(reader.line(containing: "a part does not get on parts=fan-out", within: .seconds(60)) != nil)
        stand.send(SIGTERM)
        #expect(stand.wait() == 0)
    }

    @Test func aRestartRefusesNobody() throws {
        let bench = try Workbench()
        let stand = try ServiceStand(in: bench.folder)
        let (api, port) = try ServiceStand.networkSocket()
        defer { close(api) }
        let control = try ServiceStand.localSocket(bench.path("control.sock"))
        defer { close(control) }
        let sockets = [(name: "control", descriptor: control), (name: "api", descriptor: api)]
        let health = HTTPRequest("GET", "http://127.0.0.1:\(port)/healthz")

        for round in 1...3 {
            // No daemon accepts yet: this request waits in the socket's queue for it.
            let early = Answer(of: health)
            try stand.start(configuration: bench.path("config.json5"), sockets: sockets)
            #expect(stand.message("READY") != nil, "round \(round): \(stand.log?.text ?? "")")
            #expect(early.status(within: .seconds(60)) == 200)
            #expect(try HTTPClient().send(health).status == 200)
            #expect(try bench.api("GET", "/v1/campaigns").status == 200, "the control socket")
            stand.send(SIGTERM)
            #expect(stand.wait() == 0)
            #expect(FileManager.default.fileExists(atPath: bench.path("control.sock")), "it is systemd's")
        }
        let log = try #require(stand.log)
        #expect(log.text.contains("field=listen.address configured=127.0.0.1:0 used=127.0.0.1:\(port)"))
        #expect(!log.text.contains("field=listen.controlSocket"))
    }

    /// The test is skipped where the system permits no user namespace.
    private static let privateUsers = ["/usr/bin/unshare", "--user", "--map-root-user"]
    private static let hasPrivateUsers =
        (try? CommandResult.of(
            Array(privateUsers.dropFirst()) + ["true"], program: URL(filePath: privateUsers[0])))?.status == 0

    /// With PrivateUsers= the daemon sees every group but root's as 65534, a stranger's as well as the socket's.
    @Test(.enabled(if: hasPrivateUsers))
    func aControlSocketThatIsOpenToAllIsForNoGroup() throws {
        try #require(geteuid() == 0, "other users' rights can only be tried by root")
        let bench = try Workbench()
        let stand = try ServiceStand(in: bench.folder)
        let socket = bench.path("control.sock")
        let control = try ServiceStand.localSocket(socket)
        defer { close(control) }
        // SocketGroup=daemon, SocketMode=0660.
        #expect(chown(socket, 0, 1) == 0 && chmod(socket, 0o660) == 0 && chmod(bench.folder.path, 0o755) == 0)
        try stand.start(
            configuration: bench.path("config.json5"), sockets: [(name: "control", descriptor: control)],
            wrapper: Self.privateUsers)
        #expect(stand.message("READY") != nil, "\(stand.log?.text ?? "")")
        func asNobody(_ groups: String) throws -> CommandResult {
            try CommandResult.of(
                [
                    "--reuid=65534", "--regid=65534", groups, "curl", "-sS", "--unix-socket", socket,
                    "http://relay/v1/tokens",
                ], program: URL(filePath: "/usr/bin/setpriv"))
        }
        #expect(try asNobody("--clear-groups").status != 0, "the kernel")
        #expect(try asNobody("--groups=1").output.contains("\"items\""))
        #expect(chmod(socket, 0o666) == 0)
        let refused = try asNobody("--clear-groups")
        #expect(refused.output.contains("the control socket is not for user id 65534"), "\(refused)")
        #expect(try bench.api("GET", "/v1/tokens").status == 200, "root")
    }

    /// `listen.tls` holds for a socket that systemd opened as for one of the daemon's own, also for clients that connected before
    /// the daemon came.
    @Test func aHandedSocketSpeaksTLS() throws {
        let bench = try Workbench()
        _ = try bench.speakTLS(["relay.example"])
        let stand = try ServiceStand(in: bench.folder)
        let (api, port) = try ServiceStand.networkSocket()
        defer { close(api) }
        let trusted = bench.path("api-ca.pem")
        let health = HTTPRequest("GET", "https://127.0.0.1:\(port)/healthz")

        for round in 1...2 {
            let early = Answer(of: health, trusting: trusted)
            try stand.start(configuration: bench.path("config.json5"), sockets: [(name: "api", descriptor: api)])
            #expect(stand.message("READY") != nil, "round \(round): \(stand.log?.text ?? "")")
            #expect(early.status(within: .seconds(60)) == 200)
            #expect(try HTTPClient(trustedCertificates: trusted).send(health).status == 200)
            #expect(throws: TransportError.self, "the authority is this test's own") { try HTTPClient().send(health) }
            #expect(throws: TransportError.self, "plain HTTP is not answered") {
                try HTTPClient().send(HTTPRequest("GET", "http://127.0.0.1:\(port)/healthz"))
            }
            stand.send(SIGTERM)
            #expect(stand.wait() == 0)
        }
    }

    @Test func aSocketThatItHasNoUseForIsAFaultOfTheConfiguration() throws {
        let bench = try Workbench()
        let (network, port) = try ServiceStand.networkSocket()
        defer { close(network) }
        for (sockets, fault) in [
            ([("upgrade-relay.socket", network)], #"a socket "upgrade-relay.socket" (127.0.0.1:\#(port))"#),
            ([("control", network)], #"a socket "control" (127.0.0.1:\#(port)) of the wrong kind"#),
            ([("api", network), ("api", network)], #"two sockets "api""#),
        ] {
            let stand = try ServiceStand(in: bench.folder, notify: .abstract)
            try stand.start(
                configuration: bench.path("config.json5"), sockets: sockets.map { (name: $0.0, descriptor: $0.1) })
            #expect(stand.wait() == 78)
            let log = try #require(stand.log)
            #expect(log.line(containing: fault, within: .seconds(60)) != nil, "\(log.text)")
        }
    }

    private static func monotonicMicroseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

/// A request on a thread of its own.
private final class Answer: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private nonisolated(unsafe) var result: Int?

    /// - Parameter trusted: a file of certificates; nil: the system's.
    init(of request: HTTPRequest, trusting trusted: String? = nil) {
        // The semaphore orders the write before the read.
        Thread { [self] in
            result = try? HTTPClient(trustedCertificates: trusted).send(request).status
            done.signal()
        }.start()
    }

    func status(within seconds: DispatchTimeInterval) -> Int? {
        done.wait(timeout: .now() + seconds) == .success ? result : nil
    }
}
