// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import HTTP2
import OwnThread
import PushProviders
import PushSimulator
import RelayEngine
import RelayStore
import Requirements
import Signing
import TestPeers
import Testing

@testable import FanOut

/// The certificate table: a whole campaign over TLS with the kinds of certificate files that operators have, against a
/// simulator that asks for the certificate and judges it as APNs does.
@Suite(.serialized, .ownThread) struct CertificateLiveTests {
    private static let devices = 2_000
    private let files: PushCertificateFiles

    init() throws {
        files = try PushCertificateFiles()
    }

    private func bench(latency: Duration = .zero, streams: Int = 1000, sandbox: Bool = false) throws -> LiveBench {
        try LiveBench(
            sandbox: sandbox ? FaultScript() : nil, latency: latency, maximumStreams: streams,
            clientAuthorities: files.authority.certificate)
    }

    /// Gives the route the certificate, as the configuration would.
    static func show(
        _ certificate: PushCertificate, topic: String = PushCertificateFiles.topic, in route: inout AppRoute
    ) {
        let settings = APNsProvider.Settings(topic: topic, priority: 10)
        route.provider = APNsProvider(settings: settings, credential: .certificate(certificate, in: .production))
        route.sandboxProvider = APNsProvider(settings: settings, credential: .certificate(certificate, in: .sandbox))
        let identity = ClientIdentity(chain: certificate.chain, privateKey: certificate.privateKey)
        route.production.dialer.clientIdentity = identity
        route.sandbox.dialer.clientIdentity = identity
    }

    /// Prints a row of the table in the closing note.
    private func tell(_ what: String, _ bench: LiveBench, since began: ContinuousClock.Instant) throws {
        try bench.tell(what, since: began)
    }

    // MARK: Every readable form works in TLS

    enum Form: String, CaseIterable {
        case pem = "PEM, certificate and key"
        case encryptedPEM = "PEM, key with a password"
        case p12 = ".p12 of today (AES-256)"
        case legacy = ".p12 of Keychain Access (RC2-40)"
    }

    private func certificate(_ form: Form, _ issued: IssuedCertificate) throws -> PushCertificate {
        let password = Array("geheim".utf8)
        switch form {
        case .pem: return try files.read(issued)
        case .encryptedPEM:
            let plain = try files.write(issued.privateKey, to: "plain.pem")
            try files.openssl([
                "pkcs8", "-topk8", "-in", plain, "-out", "\(files.folder)/locked.pem", "-passout", "pass:geheim",
            ])
            return try PushCertificate(
                certificate: issued.chain, key: files.bytes("\(files.folder)/locked.pem"), password: password)
        case .p12, .legacy:
            let path = try files.p12(issued, password: "geheim", isLegacy: form == .legacy)
            return try PushCertificate(certificate: files.bytes(path), key: nil, password: password)
        }
    }

    @Test(arguments: Form.allCases) func `A campaign goes out with each form of a certificate`(form: Form) throws {
        let bench = try bench()
        try bench.register(1...Self.devices)
        let certificate = try certificate(form, files.issue())
        try bench.start { Self.show(certificate, in: &$0) }
        let began = ContinuousClock.now
        try bench.raise()
        let end = try bench.wait(for: .completed)
        try tell(form.rawValue, bench, since: began)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        let figures = bench.production.figures
        #expect(figures.distinctTokens == Self.devices && figures.duplicates == 0)
        #expect(figures.providerTokens == 0, "no token is sent beside a certificate")
    }

    // MARK: Suspensions

    @Test func `A certificate that ends in mid-campaign suspends, and its successor loses nothing`() throws {
        // More devices than are ever on their way at once: sixteen batches of 500.
        let devices = 20_000
        let bench = try bench(latency: .milliseconds(300))
        try bench.register(1...devices)
        // The certificate has two hours left.
        let old = try files.read(
            try files.issue(validity: .days(1, from: PushCertificateFiles.now - 86_400 + 7_200)))
        var route: AppRoute?
        try bench.start {
            $0.production.maximumConnections = 1
            Self.show(old, in: &$0)
            route = $0
        }
        try bench.raise()
        try #require(bench.production.wait(forRequests: 200, deadline: .seconds(60)))
        bench.clock.advance(by: old.term.notAfter + .seconds(1) - bench.clock.now)
        bench.fanOut?.poke()
        let stopped = try bench.wait(for: .suspended)
        let reason = try #require(stopped.facts.reason)
        #expect(
            reason.hasPrefix(
                "CertificateExpired: the certificate of com.example.app, \"Apple Push Services: com.example.app\", ended at "
            ))
        #expect(reason.contains(#"Check apps["com.example.app"].ios.apns.certificate: make a new "#))
        #expect(reason.hasSuffix("upgrade-relay campaigns resume \(stopped.id)"))
        #expect(SuspensionReason.isOfCredential(reason))
        #expect(stopped.figures.counts.rejected == 0 && stopped.figures.counts.accepted > 0)
        #expect(stopped.figures.counts.accepted < Int64(devices))

        // The operator installs the new certificate and reloads.
        let began = ContinuousClock.now
        let new = try files.read(try files.issue())
        var other = try #require(route)
        Self.show(new, in: &other)
        bench.fanOut?.reroute([other])
        let end = try bench.passTime(to: .completed, by: .seconds(60))
        try tell("expired in mid-campaign, renewed", bench, since: began)
        #expect(end.figures.counts.accepted == Int64(devices))
        #expect(bench.production.figures.duplicates == 0)
    }

    @Test func `A certificate for another topic is refused by APNs and suspends`() throws {
        let bench = try bench()
        try bench.register(1...Self.devices)
        // The configuration would have refused this one; Apple may know better than the certificate's extension.
        let other = try files.read(try files.issue(topics: ["com.example.other"]))
        var route: AppRoute?
        try bench.start {
            Self.show(other, in: &$0)
            route = $0
        }
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        let reason = try #require(stopped.facts.reason)
        #expect(
            reason.hasPrefix(
                "TopicDisallowed: APNs does not accept the topic com.example.app of com.example.app. Check "))
        #expect(reason.contains("one of the certificate's, which are com.example.other"))
        #expect(stopped.figures.counts.rejected == 0, "they wait")
        let began = ContinuousClock.now
        var mended = try #require(route)
        Self.show(try files.read(try files.issue()), in: &mended)
        bench.fanOut?.reroute([mended])
        let end = try bench.passTime(to: .completed, by: .seconds(60))
        try tell("wrong topic, then the right certificate", bench, since: began)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
    }

    @Test func `A certificate that APNs does not know suspends with words about it`() throws {
        let bench = try bench()
        try bench.register(1...Self.devices)
        let stranger = try files.read(try PushCertificateFiles().issue())
        try bench.start { Self.show(stranger, in: &$0) }
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        let reason = try #require(stopped.facts.reason)
        #expect(
            reason.hasPrefix("BadCertificate: APNs does not accept the certificate of com.example.app, \"Apple Push"))
        #expect(stopped.figures.counts.rejected == 0 && stopped.figures.counts.accepted == 0)
    }

    @Test func `Devices of a world that the certificate is not for wait, and the others get theirs`() throws {
        let bench = try bench(sandbox: true)
        try bench.register(1...500)
        try bench.register(501...600, environment: .sandbox)
        let certificate = try files.read(try files.issue(worlds: [.production]))
        try bench.start { Self.show(certificate, in: &$0) }
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        let reason = try #require(stopped.facts.reason)
        #expect(
            reason.hasPrefix(
                "CertificateEnvironment: the certificate of com.example.app, \"Apple Push Services: com.example.app\", is for "
                    + "production alone, not for sandbox, whose devices wait. Check"))
        #expect(stopped.figures.counts.accepted == 500 && stopped.figures.counts.rejected == 0)
        #expect(bench.sandbox?.figures.requests == 0, "nothing is sent there")
    }

    // MARK: Reload

    /// Lost 0: pushes on the old connections get their answers, the rest goes over new ones.
    @Test func `A reload during a campaign swaps the certificate and loses nothing`() throws {
        let bench = try bench(latency: .milliseconds(400), streams: 100)
        try bench.register(1...Self.devices)
        var routes: [AppRoute] = []
        try bench.start {
            $0.production.maximumConnections = 2
            Self.show(try files.read(try files.issue()), in: &$0)
            routes.append($0)
        }
        let began = ContinuousClock.now
        try bench.raise()
        for number in 1...3 {
            try #require(bench.production.wait(forRequests: number * 300, deadline: .seconds(60)))
            let connections = bench.production.figures.connectionsOpened
            var next = try #require(routes.last)
            Self.show(try files.read(try files.issue()), in: &next)
            #expect(next != routes.last, "another certificate is another route")
            routes.append(next)
            bench.fanOut?.reroute([next])
            try #require(
                bench.production.wait(deadline: .seconds(60)) { $0.connectionsOpened > connections },
                "a new certificate has new connections")
        }
        let end = try bench.wait(for: .completed)
        try tell("three reloads with new certificates during the campaign", bench, since: began)
        #expect(end.figures.counts.accepted == Int64(Self.devices))
        let figures = bench.production.figures
        #expect(figures.requests == Self.devices && figures.duplicates == 0)
        // The same files again change nothing.
        let last = try #require(routes.last)
        var same = last
        Self.show(try #require((last.provider as? APNsProvider)?.certificate), in: &same)
        #expect(same == last)
    }

    // MARK: One push

    @Test func `A test push with a certificate says what the service or the relay has against it`() throws {
        let bench = try bench()
        try bench.start()
        var route: AppRoute?
        let good = try files.read(try files.issue())
        func result(_ certificate: PushCertificate, _ now: Timestamp) throws -> TestPushResult {
            bench.stop()
            try bench.start {
                Self.show(certificate, in: &$0)
                route = $0
            }
            return TestPush(
                route: try #require(route), token: LiveBench.token(1), telephone: "1", channel: .production,
                message: nil, downloadURL: "https://example.com"
            ).send { now }
        }
        #expect(try result(good, bench.clock.now).state == .accepted)
        let late = try result(good, good.term.notAfter + .seconds(1))
        #expect(late.state == .failed && late.reason == "CertificateExpired")
        #expect(late.remedy?.contains("make a new \"Apple Push Services\" certificate") == true)
        let stranger = try result(try files.read(try PushCertificateFiles().issue()), bench.clock.now)
        #expect(stranger.state == .failed && stranger.status == 403 && stranger.reason == "BadCertificate")
    }
}

/// Each environment signs with its own key if it has one.
@Suite(.serialized, .ownThread) struct SandboxKeyLiveTests {
    @Test func `The sandbox's key signs for the sandbox alone`() throws {
        let own = try ES256PrivateKey.generate()
        let bench = try LiveBench(sandbox: FaultScript(), sandboxKeys: ["SANDBOX123": own.publicKey])
        try bench.register(1...300)
        try bench.register(301...600, environment: .sandbox)
        try bench.start { route in
            let tokens = APNsTokenSource(
                teamID: FanOutBench.teamID, keyID: "SANDBOX123", key: own)
            route.sandboxProvider = APNsProvider(
                settings: .init(topic: FanOutBench.app.app, priority: 10), credential: .key(tokens, of: .sandbox))
        }
        try bench.raise()
        let end = try bench.wait(for: .completed)
        #expect(end.figures.counts.accepted == 600)
        #expect(bench.production.figures.accepted == 300 && bench.sandbox?.figures.accepted == 300)
    }

    @Test func `Without one the sandbox refuses what it does not know, and says which field`() throws {
        let own = try ES256PrivateKey.generate()
        let bench = try LiveBench(sandbox: FaultScript(), sandboxKeys: ["SANDBOX123": own.publicKey])
        try bench.register(1...50)
        try bench.register(51...200, environment: .sandbox)
        try bench.start()
        try bench.raise()
        let stopped = try bench.wait(for: .suspended)
        #expect(stopped.figures.counts.accepted == 50)
        #expect(stopped.facts.reason?.hasPrefix("InvalidProviderToken: ") == true)
    }
}
