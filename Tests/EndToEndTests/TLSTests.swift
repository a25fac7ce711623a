// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Signing
import TestPeers
import Testing

/// The real daemon behind TLS of its own, asked by libcurl and by OpenSSL.
@Suite(.serialized, .ownThread) struct TLSTests {
    private struct Stand {
        let bench: Workbench
        let authority: CertificateAuthority

        init(extra: String = "") throws {
            bench = try Workbench()
            authority = try bench.speakTLS(["localhost", "first.example"], extra: extra)
        }

        func issue(_ names: [String], expired: Bool = false) throws {
            try bench.issue(names, by: authority, expired: expired)
        }

        var address: String { bench.relay?.address ?? "" }

        func get(_ path: String) throws -> Int {
            try HTTPClient(trustedCertificates: bench.path("api-ca.pem"))
                .send(HTTPRequest("GET", "https://\(address)\(path)")).status
        }

        /// The output of `openssl s_client` for a handshake.
        func handshake(_ options: String...) throws -> String {
            let result = try CommandResult.of(
                ["s_client", "-connect", address, "-CAfile", bench.path("api-ca.pem")] + options,
                program: URL(filePath: "/usr/bin/openssl"), input: "")
            return result.output + result.errors
        }

        /// Whether the certificate that is served now is valid for `name`.
        func serves(_ name: String) throws -> Bool {
            try handshake("-verify_hostname", name, "-brief").contains("Verification: OK")
        }
    }

    @Test func theAddressForOperationsIsApartAndWithoutTLS() throws {
        let stand = try Stand(extra: "operations: \"127.0.0.1:0\", ")
        try stand.bench.start()
        let line = try #require(stand.bench.relay?.waitForLine(" ready ", within: .seconds(10)))
        let address = try #require(line.firstMatch(of: /operations=(\S+)/)?.output.1)
        func ask(_ path: String) throws -> HTTPResponse {
            try HTTPClient().send(HTTPRequest("GET", "http://\(address)\(path)"))
        }
        let metrics = try ask("/metrics")
        #expect(metrics.status == 200 && String(decoding: metrics.body, as: UTF8.self).contains(Workbench.app))
        #expect(try ask("/readyz").status == 200 && ask("/healthz").status == 200 && ask("/openapi.json").status == 200)
        #expect(try ask("/v1/check?app=\(Workbench.app)&platform=ios&version=1").status == 404)
        #expect(try stand.get("/metrics") == 404)
        #expect(try stand.get("/readyz") == 200)
        #expect(try stand.get("/v1/check?app=\(Workbench.app)&platform=ios&version=1") == 200)
    }

    @Test func onePointTwoAndThreeWorkAndOnePointOneIsRefused() throws {
        let stand = try Stand()
        try stand.bench.start()
        #expect(try stand.get("/healthz") == 200)
        #expect(try stand.handshake("-tls1_3", "-brief").contains("Protocol version: TLSv1.3"))
        let two = try stand.handshake("-tls1_2", "-brief")
        #expect(two.contains("Protocol version: TLSv1.2"))
        #expect(two.contains("GCM") || two.contains("CHACHA20"), "\(two)")
        // SECLEVEL 0: the client would accept it.
        for old in ["-tls1_1", "-tls1"] {
            let text = try stand.handshake(old, "-cipher", "DEFAULT@SECLEVEL=0")
            #expect(text.contains("New, (NONE), Cipher is (NONE)"), "\(text)")
        }
        for weak in ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA"] {
            #expect(
                try stand.handshake("-tls1_2", "-cipher", "\(weak)@SECLEVEL=0").contains(
                    "New, (NONE), Cipher is (NONE)"))
        }
        // Plain HTTP is not answered there.
        #expect(throws: TransportError.self) {
            try HTTPClient().send(HTTPRequest("GET", "http://\(stand.address)/healthz"))
        }
        #expect(throws: TransportError.self) {
            try HTTPClient().send(HTTPRequest("GET", "https://\(stand.address)/healthz"))
        }
    }

    /// Memory for a handshake is taken only when the client's first message is complete.
    @Test func halfAClientHelloCostsWhatAnIdleConnectionDoes() throws {
        let stand = try Stand()
        try stand.bench.start()
        let relay = try #require(stand.bench.relay)
        let port = try #require(stand.address.split(separator: ":").last.flatMap { UInt16($0) })
        func count(_ folder: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(relay.identifier)/\(folder)").count
        }
        func memory() throws -> Int {
            let words = try String(contentsOfFile: "/proc/\(relay.identifier)/statm", encoding: .utf8).split(
                separator: " ")
            return try #require(words.dropFirst().first.flatMap { Int($0) }) * sysconf(Int32(_SC_PAGESIZE))
        }
        // Memory that the first requests take does not count.
        for _ in 0..<20 { #expect(try stand.get("/healthz") == 200) }
        let (before, open) = (try memory(), try count("fd"))
        let clients = 600
        // A record of 512 bytes, of which 300 come: type, version, length; ClientHello, its length.
        let hello = [22, 3, 1, 2, 0, 1, 0, 1, 252] + [UInt8](repeating: 3, count: 291)
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        for _ in 0..<clients {
            let socket = try Loopback.connect("127.0.0.1", port: port)
            sockets.append(socket)
            #expect(send(socket, hello, hello.count, Int32(MSG_NOSIGNAL)) == hello.count)
        }
        let end = ContinuousClock.now + .seconds(20)
        while try count("fd") < open + clients, .now < end { #expect(try stand.get("/healthz") == 200) }
        for _ in 0..<20 { #expect(try stand.get("/healthz") == 200) }
        #expect(try count("fd") >= clients, "they are all there")
        let each = (try memory() - before) / clients
        // A sanitizer puts room around each piece of memory.
        if Patience.isShort { #expect(each < 16 << 10, "\(each) bytes for each") }
        // A client that completes its message is answered.
        let rest = [UInt8](repeating: 3, count: 512 + 5 - hello.count)
        #expect(send(sockets[0], rest, rest.count, Int32(MSG_NOSIGNAL)) == rest.count)
        var said = [UInt8](repeating: 0, count: 64)
        // The completed message is no hello: an alert (RFC 8446, 6), and the end.
        #expect(recv(sockets[0], &said, said.count, 0) > 0 && said[0] == 21)
    }

    @Test func theCommandsSpeakItWithAnAuthorityOfOnesOwn() throws {
        let stand = try Stand()
        try stand.bench.start()
        let made = try stand.bench.command("tokens", "create", "--name", "ops", "--scope", "status")
        let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let right = try CommandResult.of([
            "campaigns", "list", "--url", "https://\(stand.address)", "--ca", stand.bench.path("api-ca.pem"), "--token",
            token,
        ])
        #expect(right.status == 0, "\(right)")
        let untrusted = try CommandResult.of(
            ["campaigns", "list", "--url", "https://\(stand.address)", "--token", token])
        #expect(untrusted.status == 3)
        #expect(try CommandResult.of(["campaigns", "list", "--ca", "/x"]).status == 2)
    }

    @Test func aReloadServesTheNewCertificateAndDropsNobody() throws {
        let stand = try Stand()
        try stand.bench.start()
        let relay = try #require(stand.bench.relay)
        #expect(try stand.serves("first.example"))
        // A connection that one client keeps open across the reload.
        let live = try LiveClient(stand)
        #expect(try live.get() == "HTTP/1.1 200 OK")
        try stand.issue(["localhost", "second.example"])
        relay.send(SIGHUP)
        #expect(
            relay.waitForLine("another certificate is used", within: .seconds(60))?.contains("second.example") == true)
        #expect(try stand.serves("second.example"))
        #expect(try !stand.serves("first.example"))
        #expect(try live.get() == "HTTP/1.1 200 OK")

        // A pair that cannot be used changes nothing, and is reported with its field.
        try stand.issue(["third.example"], expired: true)
        relay.send(SIGHUP)
        #expect(relay.waitForLine("expired", within: .seconds(60))?.contains("listen.tls.certificate") == true)
        #expect(try stand.serves("second.example"))
        try stand.issue(["third.example"])
        try Data(ES256PrivateKey.generate().pem).write(to: stand.bench.folder.appending(path: "api.key"))
        relay.send(SIGHUP)
        #expect(relay.waitForLine("does not belong to the certificate", within: .seconds(60)) != nil)
        #expect(try stand.serves("second.example"))
        #expect(try live.get() == "HTTP/1.1 200 OK")
    }

    /// By a ticket of the server (RFC 8446, section 2.2; RFC 5077), for which the server keeps no state.
    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func aSessionIsResumed(version: String) throws {
        let stand = try Stand()
        try stand.bench.start()
        let session = stand.bench.path("session.pem")
        func ask(_ options: String...) throws -> String {
            try CommandResult.of(
                ["s_client", "-connect", stand.address, "-CAfile", stand.bench.path("api-ca.pem"), "-ign_eof", version]
                    + options, program: URL(filePath: "/usr/bin/openssl"),
                input: "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            ).output
        }
        let first = try ask("-sess_out", session)
        #expect(first.contains("New, TLS") && first.contains("HTTP/1.1 200 OK"), "\(first)")
        let second = try ask("-sess_in", session)
        #expect(second.contains("Reused, TLS") && second.contains("HTTP/1.1 200 OK"), "\(second)")
    }

    @Test func theProtocolIsAgreedOn() throws {
        let stand = try Stand()
        try stand.bench.start()
        #expect(try stand.handshake("-alpn", "h2,http/1.1").contains("ALPN protocol: http/1.1"))
        // RFC 7301, section 3.2.
        #expect(try stand.handshake("-alpn", "h2").contains("no application protocol"))
    }

    /// More than the daemon reads at once: data that TLS has already decrypted is no event of the socket.
    @Test func requestsThatComeInARowAreAllAnswered() throws {
        let stand = try Stand()
        try stand.bench.start()
        #expect(try LiveClient(stand).get(1000) == "HTTP/1.1 200 OK")
    }

    /// A TLS connection that stays: openssl s_client, fed by hand.
    private final class LiveClient {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ stand: Stand) throws {
            process.executableURL = URL(filePath: "/usr/bin/openssl")
            process.arguments = [
                "s_client", "-connect", stand.address, "-quiet", "-CAfile", stand.bench.path("api-ca.pem"),
            ]
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        deinit {
            // Not SIGTERM: it is blocked in the threads of libdispatch, and in programs that they start (execve(2)).
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        /// Sends `count` requests in a row; returns the status line of the first answer when all have come.
        func get(_ count: Int = 1) throws -> String {
            let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
            // Less than a pipe holds (pipe(7)): all are written before any answer is read.
            try input.fileHandleForWriting.write(contentsOf: Data(String(repeating: request, count: count).utf8))
            var text = ""
            while text.components(separatedBy: #"{"status":"ok"}"#).count <= count {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { throw Unexpected("the connection ended after \(text)") }
                text += String(decoding: data, as: UTF8.self)
            }
            return String(text.split(separator: "\r\n").first ?? "")
        }
    }

    @Test func checkConfigSaysWhatIsWrongWithThePair() throws {
        let stand = try Stand()
        func check() throws -> CommandResult { try stand.bench.command("check-config") }
        let good = try check()
        #expect(good.status == 0)
        #expect(good.output.contains("localhost, first.example, 127.0.0.1"), "\(good.output)")
        func fault(_ text: String) throws {
            let result = try check()
            #expect(result.status == 78)
            #expect(result.errors.contains(text), "\(result.errors)")
        }
        try stand.issue(["localhost"], expired: true)
        try fault(
            "listen.tls.certificate: file \(stand.bench.path("api.pem")): the certificate expired 1 days ago; renew it")
        try stand.issue(["localhost"])
        let key = try Data(contentsOf: stand.bench.folder.appending(path: "api.key"))
        try stand.issue(["localhost"])
        try key.write(to: stand.bench.folder.appending(path: "api.key"))
        try fault(
            "listen.tls.key: file \(stand.bench.path("api.key")): the private key does not belong to the certificate")
        try Data("nothing".utf8).write(to: stand.bench.folder.appending(path: "api.key"))
        try fault("listen.tls.key: file \(stand.bench.path("api.key")): no private key found")
        try Data("nothing".utf8).write(to: stand.bench.folder.appending(path: "api.pem"))
        try fault("listen.tls.certificate: file \(stand.bench.path("api.pem")): no certificate found")
        try FileManager.default.removeItem(at: stand.bench.folder.appending(path: "api.pem"))
        try fault("listen.tls.certificate: file \(stand.bench.path("api.pem")) does not exist")
    }

    @Test func theControlSocketIsForItsUserRootAndItsGroup() throws {
        try #require(geteuid() == 0, "other users' rights can only be tried by root")
        let stand = try Stand(extra: "controlSocketGroup: \"daemon\", ")
        try stand.bench.start()
        let relay = try #require(stand.bench.relay)
        let socket = stand.bench.path("control.sock")
        let attributes = try FileManager.default.attributesOfItem(atPath: socket)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o660)
        #expect(attributes[.groupOwnerAccountName] as? String == "daemon")
        chmod(stand.bench.folder.path, 0o755)
        func asNobody(_ groups: String) throws -> CommandResult {
            try CommandResult.of(
                [
                    "--reuid=65534", "--regid=65534", groups, "curl", "-sS", "--unix-socket", socket,
                    "http://relay/v1/tokens",
                ], program: URL(filePath: "/usr/bin/setpriv"))
        }
        // The file's mode already keeps the user out.
        #expect(try asNobody("--clear-groups").status != 0)
        #expect(try asNobody("--groups=1").output.contains("\"items\""))
        // If the file was opened to all, the daemon checks the user itself.
        chmod(socket, 0o666)
        let refused = try asNobody("--clear-groups")
        #expect(refused.output.contains("the control socket is not for user id 65534"), "\(refused)")
        let line = relay.waitForLine("a connection to the control socket was refused", within: .seconds(60))
        #expect(line?.contains("user=65534") == true)
        #expect(try stand.bench.api("GET", "/v1/tokens").status == 200)
    }
}

extension Workbench {
    /// Makes the daemon speak TLS with a certificate of a new authority, whose own certificate is `api-ca.pem`; before `start`.
    ///
    /// - Parameter extra: further keys of `listen`.
    func speakTLS(_ names: [String], extra: String = "") throws -> CertificateAuthority {
        let authority = try CertificateAuthority(validity: .days(2, from: Int64(time(nil))))
        try Data(authority.certificate).write(to: folder.appending(path: "api-ca.pem"))
        try issue(names, by: authority)
        let tls = "tls: { certificate: { file: \"\(path("api.pem"))\" }, key: { file: \"\(path("api.key"))\" } }, "
        try edit("listen: { ", "listen: { \(extra)\(tls)")
        return authority
    }

    /// Replaces the certificate and the key that the configuration names.
    func issue(_ names: [String], by authority: CertificateAuthority, expired: Bool = false) throws {
        let now = Int64(time(nil))
        let issued = try authority.issue(
            names: names, addresses: ["127.0.0.1"], validity: expired ? .expired(at: now) : .days(1, from: now))
        try Data(issued.chain).write(to: folder.appending(path: "api.pem"))
        try Data(issued.privateKey).write(to: folder.appending(path: "api.key"))
    }

    /// Changes the configuration's text.
    func edit(_ old: String, _ new: String) throws {
        let file = folder.appending(path: "config.json5")
        let text = try String(contentsOf: file, encoding: .utf8)
        guard text.contains(old) else { throw Unexpected("the configuration has no \(old)") }
        try Data(text.replacing(old, with: new).utf8).write(to: file)
    }
}
