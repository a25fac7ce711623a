// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import RelayStore
import Requirements
import Signing
import TestPeers
import Testing
import UpgradeRules
import WireFormat

@testable import Configuration
@testable import VersionSources

/// Every file that a configuration can name × the forms that editors, shells and files of variables give it: a file that the
/// check calls valid works, and one that would not work is a fault that names the file.
@Suite struct ReadFileTests {
    /// A change to a file's text on its way.
    struct Way: Sendable, CustomTestStringConvertible {
        var name: String
        /// Whether every reader has to take it.
        var mustWork = false
        var change: @Sendable ([UInt8]) -> [UInt8]

        var testDescription: String { name }
    }

    private static func text(_ bytes: [UInt8], _ change: (String) -> String) -> [UInt8] {
        Array(change(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    private static func utf16(_ bytes: [UInt8], isLittleEndian: Bool, mark: String) -> [UInt8] {
        (mark + String(decoding: bytes, as: UTF8.self)).utf16.flatMap { unit in
            isLittleEndian ? [UInt8(unit & 255), UInt8(unit >> 8)] : [UInt8(unit >> 8), UInt8(unit & 255)]
        }
    }

    static let ways: [Way] = [
        Way(name: "as it is", mustWork: true) { $0 },
        Way(name: "a line end", mustWork: true) { $0 + [0x0A] },
        Way(name: "a byte-order mark", mustWork: true) { [0xEF, 0xBB, 0xBF] + $0 },
        Way(name: "CR LF", mustWork: true) { bytes in
            text(bytes) { $0.replacing("\n", with: "\r\n") + "\r\n" }
        },
        Way(name: "UTF-16, little end first", mustWork: true) { utf16($0, isLittleEndian: true, mark: "\u{FEFF}") },
        Way(name: "UTF-16, big end first", mustWork: true) { utf16($0, isLittleEndian: false, mark: "\u{FEFF}") },
        Way(name: "UTF-16 without a mark", mustWork: true) { utf16($0, isLittleEndian: true, mark: "") },
        Way(name: "UTF-32") { bytes in
            [0xFF, 0xFE, 0, 0] + bytes.flatMap { [$0, 0, 0, 0] }
        },
        Way(name: "half of a UTF-16") { _ in [0xFF, 0xFE, 0x41] },
        Way(name: "quotes") { bytes in text(bytes) { "\"\($0)\"" } },
        Way(name: "single quotes") { bytes in text(bytes) { "'\($0)'" } },
        Way(name: "a name") { bytes in text(bytes) { "RELAY_SECRET=\($0)" } },
        Way(name: "a name and quotes") { bytes in text(bytes) { "RELAY_SECRET=\"\($0)\"" } },
        Way(name: "\\n") { bytes in text(bytes) { $0.replacing("\n", with: "\\n") } },
        Way(name: "a blank before it") { bytes in text(bytes) { " \($0)" } },
        Way(name: "empty") { _ in [] },
    ]

    /// The files, as they should be, and the use of each.
    private final class Stand {
        let folder: String
        let certificates: PushCertificateFiles
        /// By the key of the configuration.
        var files: [String: [UInt8]] = [:]
        let server: ServerIdentity

        static let webhookKey = [UInt8](repeating: 7, count: 32)
        static let password = "geheim"

        init() throws {
            folder = try TestFolder.make()
            certificates = try PushCertificateFiles()
            let identity = try TestIdentity()
            func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
            let (chain, key) = (try bytes(identity.chainPath), try bytes(identity.keyPath))
            server = try ServerIdentity(chain: chain, privateKey: key, at: PushCertificateFiles.now)
            let issued = try certificates.issue()
            let plain = try certificates.write(issued.privateKey, to: "plain.pem")
            try certificates.openssl([
                "pkcs8", "-topk8", "-in", plain, "-out", "\(folder)/protected.pem", "-passout", "pass:\(Self.password)",
            ])
            let account: JSONValue = [
                "type": .string("service_account"), "client_email": .string("relay@example.iam.gserviceaccount.com"),
                "project_id": .string("example"), "private_key_id": .string("1"),
                "private_key": .string(String(decoding: try RS256PrivateKey.generate().pem, as: UTF8.self)),
            ]
            let secret = Array(WebhookSecret.text(Self.webhookKey).utf8)
            let apns = "apps.APP.PLATFORM.apns"
            files = [
                "store.postgres.password": Array(Self.password.utf8),
                "listen.tls.certificate": chain, "listen.tls.key": key,
                "webhooks.secrets[]": secret, "notify[].secret": secret,
                "\(apns).key": try ES256PrivateKey.generate().pem,
                "\(apns).sandboxKey.key": try ES256PrivateKey.generate().pem,
                "\(apns).certificate": issued.chain,
                // The key of the certificate.
                "\(apns).key of the certificate": try bytes("\(folder)/protected.pem"),
                "\(apns).password": Array(Self.password.utf8),
                "apps.APP.PLATFORM.fcm.serviceAccount": account.bytes(),
                "apps.APP.PLATFORM.sources[].appStoreConnect.key": try ES256PrivateKey.generate().pem,
                "apps.APP.PLATFORM.sources[].googlePlay.key": account.bytes(isPretty: true),
                "apps.APP.PLATFORM.sources[].launchGate.file": Array(
                    #"{"ios":{"optionalUpdate":{"optionalVersion":"2.0.0","message":"新"}}}"#.utf8),
            ]
            for place in [
                "notify[]", apns, "apps.APP.PLATFORM.fcm", "apps.APP.PLATFORM.sources[].appStoreConnect",
                "apps.APP.PLATFORM.sources[].googlePlay", "apps.APP.PLATFORM.sources[].launchGate", "egress",
            ] { files["\(place).trustedCertificates"] = chain }
            for name in files.keys { try write(files[name] ?? [], name) }
        }

        func path(_ name: String) -> String {
            "\(folder)/" + String(name.map { $0.isLetter ? $0 : "-" })
        }

        func write(_ bytes: [UInt8], _ name: String) throws {
            try Data(bytes).write(to: URL(filePath: path(name)))
        }

        func configuration() throws -> RelayConfiguration {
            let apns = "apps.APP.PLATFORM.apns"
            func file(_ name: String) -> String { "{ file: \"\(path(name))\" }" }
            func trusted(_ name: String) -> String { "trustedCertificates: \"\(path("\(name).trustedCertificates"))\"" }
            let text = """
                {
                  store: { postgres: { url: "postgresql://127.0.0.1/d", password: \(file("store.postgres.password")) } },
                  listen: { tls: { certificate: \(file("listen.tls.certificate")), key: \(file("listen.tls.key")) } },
                  egress: { \(trusted("egress")) },
                  webhooks: { secrets: [\(file("webhooks.secrets[]"))] },
                  notify: [{ url: "https://example.com", secret: \(file("notify[].secret")), \(trusted("notify[]")) }],
                  apps: {
                    "com.example.app": {
                      ios: {
                        apns: { teamId: "ABCDE12345", keyId: "FGHIJ67890", key: \(file("\(apns).key")), \(trusted(apns)),
                                sandboxKey: { keyId: "FGHIJ67891", key: \(file("\(apns).sandboxKey.key")) } },
                        sources: [{ appStoreConnect: { appId: 1, keyId: "2X9R4HXF34",
                          key: \(file("apps.APP.PLATFORM.sources[].appStoreConnect.key")),
                          \(trusted("apps.APP.PLATFORM.sources[].appStoreConnect")) } },
                          { launchGate: { file: "\(path("apps.APP.PLATFORM.sources[].launchGate.file"))" } },
                          { launchGate: { url: "https://example.com/launchgate.json",
                            \(trusted("apps.APP.PLATFORM.sources[].launchGate")) } }],
                      },
                      android: {
                        fcm: { serviceAccount: \(file("apps.APP.PLATFORM.fcm.serviceAccount")),
                               \(trusted("apps.APP.PLATFORM.fcm")) },
                        sources: [{ googlePlay: { key: \(file("apps.APP.PLATFORM.sources[].googlePlay.key")),
                          \(trusted("apps.APP.PLATFORM.sources[].googlePlay")) } }],
                      },
                    },
                    "com.example.other": { ios: { apns: {
                      certificate: \(file("\(apns).certificate")), key: \(file("\(apns).key of the certificate")),
                      password: \(file("\(apns).password")) } } },
                  },
                }
                """
            keys = RelayConfiguration.keys(try JSON5Reader.read(Array(text.utf8)).value)
            return try ConfigurationFile.parse(Array(text.utf8), path: "test")
        }

        private(set) var keys: [ConfigurationKey] = []

        /// Whether the file at the key works, when it is used as the relay uses it.
        func works(_ name: String, in configuration: RelayConfiguration) throws -> Bool {
            let apps = configuration.apps
            func read(_ source: SecretSource?) throws -> [UInt8] { try #require(source).read(environment: [:]) }
            let good = files[name] ?? []
            func isSigned(by bytes: [UInt8]) throws -> Bool {
                let (key, now) = (try ES256PrivateKey(pem: bytes), Array("text".utf8))
                return try ES256PrivateKey(pem: good).publicKey.isValid(key.sign(now), for: now)
            }
            let keyed = try #require(apps.first { $0.key.app == "com.example.app" && $0.key.platform == .ios })
            let android = try #require(apps.first { $0.key.platform == .android })
            switch name {
            case "store.postgres.password":
                guard case .postgres(let postgres) = configuration.store.database else { return false }
                return try read(postgres.password) == good
            case "listen.tls.certificate", "listen.tls.key":
                return try configuration.listen.tls?.identity(environment: [:], now: PushCertificateFiles.now) == server
            case "webhooks.secrets[]", "notify[].secret":
                let source =
                    name == "notify[].secret"
                    ? configuration.notify[0].secret : configuration.webhooks.secrets[0].source
                let (now, body) = (Timestamp(seconds: 1_800_000_000), Array("{}".utf8))
                let sent = try WebhookSecret(good).headers(id: "1", at: now, body: body)
                let verdict = WebhookVerifier(secrets: [try WebhookSecret(read(source))]).verify(
                    WebhookHeaders(Dictionary(uniqueKeysWithValues: sent)), body: body, at: now)
                let digest = Hex.encode(HMACSHA256.code(body, key: good))
                let gitHub = WebhookVerifier(secrets: [try WebhookSecret(read(source))]).verify(
                    WebhookHeaders([WebhookHeaders.hubSignature: "sha256=\(digest)"]), body: body, at: now)
                guard case .verified = gitHub else { return false }
                return verdict == .verified(receiptID: "1")
            case "apps.APP.PLATFORM.apns.key", "apps.APP.PLATFORM.apns.sandboxKey.key":
                guard case .keys(_, let key, let sandbox)? = keyed.apns?.credentials else { return false }
                return try isSigned(by: read(name.contains("sandbox") ? sandbox?.file : key.file))
            case "apps.APP.PLATFORM.apns.certificate", "apps.APP.PLATFORM.apns.key of the certificate",
                "apps.APP.PLATFORM.apns.password":
                guard
                    case .certificate(let files)? = apps.first(where: { $0.key.app == "com.example.other" })?.apns?
                        .credentials
                else { return false }
                return try files.read(at: "apns", environment: [:]).content.alertTopics == [PushCertificateFiles.topic]
            case "apps.APP.PLATFORM.fcm.serviceAccount":
                return try android.fcm?.account(environment: [:]).account == GoogleAccount(keyFile: good)
            case "apps.APP.PLATFORM.sources[].appStoreConnect.key":
                return try isSigned(by: read(keyed.sourceKeys[.appStoreConnect]))
            case "apps.APP.PLATFORM.sources[].googlePlay.key":
                return try GoogleAccount(keyFile: read(android.sourceKeys[.googlePlay])) == GoogleAccount(keyFile: good)
            case "apps.APP.PLATFORM.sources[].launchGate.file":
                let bytes = Array(try Data(contentsOf: URL(filePath: path(name))))
                return try LaunchGateReading(bytes).latest?.text == "2.0.0"
            case _ where name.hasSuffix(".trustedCertificates"):
                // OpenSSL reads it itself.
                let leaf = try certificates.write(server.chain, to: "leaf.pem")
                return (try? certificates.openssl(["verify", "-partial_chain", "-CAfile", path(name), leaf])) != nil
            default:
                throw PeerError("nothing here knows what the file at \(name) is used for")
            }
        }
    }

    @Test func `Each file that a configuration can name is tried`() throws {
        let stand = try Stand()
        _ = try stand.configuration()
        let named = Set(stand.keys.filter { [.secret, .file].contains($0.values) }.map(\.path))
        let places = ["file", "credential", "environment"]
        let own = named.filter { path in
            !stand.keys.contains { key in key.values == .secret && places.contains { path == "\(key.path).\($0)" } }
        }
        let tried = Set(stand.files.keys.filter { !$0.contains(" ") })
        #expect(own == tried, "not tried: \(own.subtracting(tried)); not there: \(tried.subtracting(own))")
    }

    @Test(arguments: ways)
    func `What the check calls valid works, and what would not is named`(way: Way) throws {
        let stand = try Stand()
        let configuration = try stand.configuration()
        for (name, good) in stand.files.sorted(by: { $0.key < $1.key }) {
            try stand.write(way.change(good), name)
            defer { try? stand.write(good, name) }
            let report = ConfigurationCheck(configuration: configuration, environment: [:]).runFiles()
            let said = (report.faults + report.warnings).filter {
                $0.reason.contains(stand.path(name)) && !$0.reason.contains("that ends in")
            }
            let faults = (report.faults.map(\.description)).filter { $0.contains(stand.path(name)) }
            let works = (try? stand.works(name, in: configuration)) ?? false
            // A file that is not reported must work. A watched file's contents are known only when it is read.
            if !name.hasSuffix("launchGate.file") {
                #expect(works || !said.isEmpty, "\(name), \(way.name): valid, and it does not work")
                // OpenSSL may find one certificate of several, and skip the other one.
                let mayWork = name.hasSuffix(".trustedCertificates")
                #expect(!works || faults.isEmpty || mayWork, "\(name), \(way.name): it works, and is called \(faults)")
            }
            if way.mustWork, !name.hasSuffix(".trustedCertificates") {
                #expect(works, "\(name), \(way.name): \(said)")
            }
            for fault in said {
                #expect(!fault.description.contains(Stand.password), "\(fault)")
                #expect(!fault.description.contains(Base64.encode(Stand.webhookKey)), "\(fault)")
            }
        }
    }

    @Test(arguments: ways.filter(\.mustWork))
    func `The configuration itself is read`(way: Way) throws {
        let folder = try TestFolder.make()
        let text = "// 配置\n{\n  listen: { controlSocket: \"/tmp/x.sock\" },\n}\n"
        try Data(way.change(Array(text.utf8))).write(to: URL(filePath: "\(folder)/config.json5"))
        let file = ConfigurationFile(path: "\(folder)/config.json5")
        #expect(try file.load().listen.controlSocket == "/tmp/x.sock")
        #expect(file.controlSocket(isNamed: true) == ControlSocket(path: "/tmp/x.sock"))
    }
}
