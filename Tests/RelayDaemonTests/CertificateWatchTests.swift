// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import FanOut
import Foundation
import HTTP2
import PushProviders
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import Signing
import Telemetry
import TestPeers
import TestStores
import Testing
import UpgradeRules

@testable import Configuration
@testable import RelayDaemon

/// A certificate's end is reported while there is time, and, once it has come, with what it stops.
@Suite struct CertificateWatchTests {
    private static let day = Duration.seconds(86_400)
    private static let field = #"apps["com.example.app"].ios.apns.certificate"#
    private let files: PushCertificateFiles
    private let store: any TestStore
    private let lines = Watched<[String]>([])

    init() throws {
        files = try PushCertificateFiles()
        store = try openStore("\(files.folder)/relay.db")
    }

    private func log() -> Log {
        let lines = lines
        return Log(minimum: .info) { level, message, fields in
            let days = fields.first { $0.name == "days" }?.value ?? "-"
            lines.change { $0.append("\(level.name) \(message) (\(days))") }
        }
    }

    private func write(_ issued: IssuedCertificate) throws {
        try files.write(issued.chain + issued.privateKey, to: "push.pem")
    }

    /// As the daemon reads it from its configuration.
    private func routes(_ apns: String) throws -> [AppKey: AppRoute] {
        let text = """
            { apps: { "com.example.app": { ios: { downloadUrl: "https://example.com", apns: { \(apns) } } } } }
            """
        let builder = RouteBuilder(
            store: store, environment: [:], tokenSources: TokenSources(),
            log: Log(minimum: .error) { _, _, _ in },
            clock: { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
        let routes = try builder.routes(for: ConfigurationFile.parse(Array(text.utf8), path: "test"))
        return Dictionary(uniqueKeysWithValues: routes.map { ($0.app, $0) })
    }

    private func routes() throws -> [AppKey: AppRoute] {
        try routes(#"certificate: { file: "\#(files.folder)/push.pem" }"#)
    }

    @Test func `Its end is warned of for thirty days and is a fault from then on`() throws {
        try write(try files.issue())
        let routes = try routes()
        let certificate = try #require((routes.values.first?.main.provider as? APNsProvider)?.certificate)
        let end = certificate.term.notAfter
        let watch = CertificateWatch(log: log())
        watch.take(routes, at: end - Self.day * 100)
        #expect(lines.now == [])
        #expect(watch.warnings(at: end - Self.day * 31) == [] && watch.faults(at: end - Self.day * 31) == [])
        let warning = try #require(watch.warnings(at: end - Self.day * 8).first)
        #expect(warning.part == "certificate:com.example.app")
        #expect(
            warning.reason.hasPrefix("\(Self.field): \"Apple Push Services: com.example.app\" ends at 2")
                && warning.reason.hasSuffix(", in 8 days: put a new one there and reload"), "\(warning.reason)")
        #expect(watch.faults(at: end) == [])
        let late = end + .seconds(1)
        #expect(watch.warnings(at: late) == [])
        #expect(watch.faults(at: late).first?.reason.contains("\" ended at 2") == true)
        #expect(
            watch.faults(at: certificate.term.notBefore - .seconds(1)).first?.reason.hasSuffix("is the clock right?")
                == true)
        #expect(watch.secondsLeft(at: end - Self.day).map(\.seconds) == [86_400])
        #expect(watch.secondsLeft(at: late).map(\.seconds) == [-1])
    }

    @Test func `The log has it at the start, with each reload, and once a day`() throws {
        try write(try files.issue())
        let routes = try routes()
        let end = try #require((routes.values.first?.main.provider as? APNsProvider)?.certificate).term.notAfter
        let watch = CertificateWatch(log: log())
        let start = end - Self.day * 10
        let soon = "warning the certificate for pushes ends soon: make a new one"
        watch.take(routes, at: start)
        #expect(lines.now == ["\(soon) (10)"])
        for minute in 1...60 * 24 - 1 { watch.look(at: start + .seconds(Int64(minute) * 60)) }
        #expect(lines.now.count == 1)
        watch.look(at: start + Self.day)
        #expect(lines.now.last == "\(soon) (9)" && lines.now.count == 2)
        watch.take(routes, at: start + Self.day + .seconds(60))
        #expect(lines.now.count == 3, "with a reload again")
        watch.look(at: end + .seconds(60))
        #expect(lines.now.last == "error the certificate for pushes has ended: nothing is pushed with it (0)")

        // The operator installs a new one.
        try write(try files.issue(validity: .days(800, from: PushCertificateFiles.now)))
        watch.take(try self.routes(), at: end + .seconds(120))
        #expect(lines.now.last?.hasPrefix("notice another certificate is pushed with from now on (43") == true)
        #expect(watch.faults(at: end + .seconds(120)) == [] && watch.warnings(at: end + .seconds(120)) == [])
    }

    @Test func `A new certificate has new connections, the same one keeps them`() throws {
        try write(try files.issue())
        let first = try #require(try routes().values.first)
        let same = try #require(try routes().values.first)
        #expect(first == same && first.service(.production).pool.dialer.clientIdentity != nil)
        #expect(
            first.service(.sandbox).pool.dialer.clientIdentity == first.service(.production).pool.dialer.clientIdentity)
        try write(try files.issue())
        let other = try #require(try routes().values.first)
        #expect(other != first && other.main.provider.credential != first.main.provider.credential)
        #expect(other.main.provider.identity != first.main.provider.identity)
    }

    @Test func `Where keys sign there is no certificate, and the sandbox may have a key of its own`() throws {
        for name in ["a", "b"] { try files.write(try ES256PrivateKey.generate().pem, to: "\(name).p8") }
        func keys(_ more: String) throws -> AppRoute {
            try #require(
                try routes(
                    #"teamId: "TEAM123456", keyId: "KEY1234567", key: { file: "\#(files.folder)/a.p8" }\#(more)"#
                ).values.first)
        }
        let one = try keys("")
        #expect(one.service(.sandbox).provider.credential == one.service(.production).provider.credential)
        #expect(one.service(.production).pool.dialer.clientIdentity == nil)
        let two = try keys(#", sandboxKey: { keyId: "KEY7654321", key: { file: "\#(files.folder)/b.p8" } }"#)
        #expect(two.service(.sandbox).provider.credential != two.service(.production).provider.credential)
        #expect(two != one)
        let watch = CertificateWatch(log: log())
        let now = Timestamp(seconds: 1_800_000_000)
        watch.take([one.app: one], at: now)
        #expect(watch.secondsLeft(at: now).isEmpty && watch.faults(at: now) == [] && lines.now == [])
    }

    @Test func `What cannot be read keeps the configuration from being taken, with its field`() throws {
        try files.write(Array("nonsense".utf8), to: "push.pem")
        let error = #expect(throws: (any Error).self) { try routes() }
        #expect(
            "\(try #require(error))".contains("\(Self.field): file \(files.folder)/push.pem is neither PEM nor a .p12"))
    }
}
