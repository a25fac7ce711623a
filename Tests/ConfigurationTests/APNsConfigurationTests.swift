// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine
import RelayStore
import Requirements
import Signing
import TestPeers
import Testing
import WireFormat

@testable import Configuration

/// The forms of `apns`: one key, a key for each environment, or a certificate in any of its forms.
@Suite struct APNsConfigurationTests {
    private static let field = #"apps["com.example.app"].ios.apns"#

    private static func text(_ apns: String) -> String {
        "{ apps: { \"com.example.app\": { ios: { apns: { \(apns) } } } } }"
    }

    private static let keys = #"teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { file: "/k.p8" }"#

    private func apns(_ text: String) throws -> APNsConfiguration {
        try #require(try ConfigurationFile.parse(Array(Self.text(text).utf8), path: "test").apps.first?.apns)
    }

    // MARK: Allowed values

    @Test func `One key serves both environments, two have one each`() throws {
        let key = APNsKey(keyID: "FGHIJ67890", file: .file("/k.p8"))
        #expect(try apns(Self.keys).credentials == .keys(teamID: "ABCDE12345", key, sandbox: nil))
        let sandbox = try apns(Self.keys + #", sandboxKey: { keyId: "KLMNO12345", key: { credential: "s" } }"#)
        #expect(
            sandbox.credentials
                == .keys(teamID: "ABCDE12345", key, sandbox: APNsKey(keyID: "KLMNO12345", file: .credential("s"))))
    }

    @Test func `A certificate needs neither team nor key id`() throws {
        let all = try apns(
            #"certificate: { file: "/c" }, key: { credential: "k" }, password: { environment: "P" }, topic: "a.b""#)
        #expect(
            all.credentials
                == .certificate(
                    APNsCertificateFiles(certificate: .file("/c"), key: .credential("k"), password: .environment("P"))))
        #expect(all.topic == "a.b")
        let least = try apns(#"certificate: { file: "/c" }"#)
        #expect(least.credentials == .certificate(APNsCertificateFiles(certificate: .file("/c"))) && least.topic == nil)
    }

    private static let table: [(String, [String])] = [
        (
            #"certificate: { file: "/c" }, teamId: "ABCDE12345""#,
            [
                "\(field).teamId: goes with a key that signs tokens, and there is a `certificate`; leave out one of the two"
            ]
        ),
        (
            keys + #", certificate: { file: "/c" }"#,
            ["teamId", "keyId"].map {
                "\(field).\($0): goes with a key that signs tokens, and there is a `certificate`; leave out one of the two"
            }
        ),
        (
            #"certificate: { file: "/c" }, sandboxKey: { keyId: "KLMNO12345", key: { file: "/s" } }"#,
            [
                "\(field).sandboxKey: goes with a key that signs tokens, and there is a `certificate`; leave out one of the "
                    + "two"
            ]
        ),
        (
            keys + #", password: { file: "/p" }"#,
            ["\(field).password: goes with a `certificate`, and there is none; a .p8 file has no password"]
        ),
        (
            keys + ", sandboxKey: {}",
            [
                "\(field).sandboxKey.keyId: missing; the ten characters of the sandbox's signing key",
                "\(field).sandboxKey.key: missing; where the .p8 file of the sandbox's key is: { file: \"…\" } or "
                    + "{ credential: \"…\" }",
            ]
        ),
        (
            keys + #", sandboxKey: { keyId: "FGHIJ67890", key: { file: "/s" } }"#,
            [
                "\(field).sandboxKey.keyId: \"FGHIJ67890\" is the other key's, too; leave sandboxKey out where one key serves "
                    + "both"
            ]
        ),
        (
            keys + #", sandboxKey: { keyId: "KLMNO12345", teamId: "ABCDE12345", key: { file: "/s" } }"#,
            ["\(field).sandboxKey.teamId: unknown key; known here: key, keyId"]
        ),
        (
            #"certificate: "-----BEGIN", key: { file: "/k" }"#,
            [
                "\(field).certificate: a secret is never written here; say where it is kept: { file: \"…\" }, "
                    + "{ credential: \"…\" } or { environment: \"…\" }"
            ]
        ),
    ]

    @Test(arguments: table) func `A fault names its field and what goes together`(text: String, faults: [String]) {
        #expect(configurationFaults(Self.text(text)) == faults)
    }

    // MARK: The files' contents

    private func check(
        _ apns: String, environment: [String: String] = [:], at now: Int64 = PushCertificateFiles.now
    ) throws -> ConfigurationCheck.Report {
        ConfigurationCheck(
            configuration: try ConfigurationFile.parse(Array(Self.text(apns).utf8), path: "test"),
            environment: environment, now: Timestamp(seconds: now)
        ).runFiles()
    }

    @Test func `A certificate is judged with all its files, by their content`() throws {
        let files = try PushCertificateFiles()
        let issued = try files.issue()
        let pem = try files.write(issued.chain, to: "name.says.nothing")
        let key = try files.write(issued.privateKey, to: "key")
        let p12 = try files.p12(issued, password: "geheim", isLegacy: true)
        let password = try files.write(Array("geheim\n".utf8), to: "password")
        for text in [
            #"certificate: { file: "\#(pem)" }, key: { file: "\#(key)" }"#,
            #"certificate: { file: "\#(p12)" }, password: { file: "\#(password)" }"#,
        ] {
            let report = try check(text)
            #expect(report.faults == [] && report.outOfTerm == [])
            #expect(report.secretsRead.count == 2)
            let found = try #require(report.certificates.first)
            #expect(found.app.app == "com.example.app" && found.topic == PushCertificateFiles.topic)
        }
        let wrong = try check(#"certificate: { file: "\#(p12)" }, password: { file: "\#(key)" }"#)
        #expect(
            wrong.faults.map(\.description) == [
                "\(Self.field).password: file \(key) does not open the .p12 in `certificate`: another password is needed; "
                    + "it has several lines; the secret alone is needed, in one line"
            ])
        let none = try check(#"certificate: { file: "\#(p12)" }"#)
        #expect(
            none.faults.map(\.description) == [
                "\(Self.field).certificate: file \(p12) is a .p12 that is protected by a password; name the password's place "
                    + "in `password`"
            ])
        let stranger = try files.write(try files.issue().privateKey, to: "stranger")
        let mixed = try check(#"certificate: { file: "\#(pem)" }, key: { file: "\#(stranger)" }"#)
        #expect(
            mixed.faults.map(\.description) == [
                "\(Self.field).key: file \(stranger) holds a key that does not belong to the certificate \"Apple Push "
                    + "Services: com.example.app\"; both must come from the same certificate request"
            ])
        let away = try check(#"certificate: { file: "\#(pem).away" }"#)
        #expect(away.faults.map(\.description) == ["\(Self.field).certificate: file \(pem).away does not exist"])
    }

    /// A line break is a byte like any other at the end of a binary file.
    @Test func `A .p12 loses none of its last bytes, and stands in the environment as base64`() throws {
        let files = try PushCertificateFiles()
        let bytes: [UInt8] = [0x30, 0x01, 0x0A, 0x0D]
        let path = try files.write(bytes, to: "binary")
        #expect(try SecretSource.file(path).bytes(environment: [:]) == bytes)
        #expect(try SecretSource.file(path).read(environment: [:]) == [0x30, 0x01])
        let p12 = try files.bytes(files.p12(try files.issue(), password: "geheim"))
        let text = String(decoding: p12, as: Unicode.ASCII.self)
        #expect(text.utf8.count != p12.count, "no text")
        let base64 = try files.openssl([
            "base64", "-A", "-in", try files.write(p12, to: "a.p12"),
        ])
        let report = try check(
            #"certificate: { environment: "CERT" }, password: { environment: "PASS" }"#,
            environment: ["CERT": base64, "PASS": "geheim"])
        #expect(report.faults == [] && report.certificates.count == 1)
    }

    @Test func `A certificate that does not hold is told of, but stops no daemon`() throws {
        let files = try PushCertificateFiles()
        let issued = try files.issue()
        let pem = try files.write(issued.chain + issued.privateKey, to: "pem")
        let term = try files.read(issued).term
        let text = #"certificate: { file: "\#(pem)" }"#
        let late = try check(text, at: term.notAfter.seconds + 1)
        #expect(late.faults == [] && late.certificates.count == 1)
        #expect(
            late.outOfTerm.first?.description.hasPrefix(
                "\(Self.field).certificate: file \(pem) holds a certificate that ended at 2") == true)
        let early = try check(text, at: term.notBefore.seconds - 1)
        #expect(early.faults == [] && early.outOfTerm.first?.description.hasSuffix("only; is the clock right?") == true)
        #expect(try check(text, at: term.notAfter.seconds).outOfTerm == [])
    }

    @Test func `The topic comes from the certificate, or is one of its own`() throws {
        let files = try PushCertificateFiles()
        let issued = try files.issue(topics: ["com.example.one", "com.example.two"])
        let pem = try files.write(issued.chain + issued.privateKey, to: "pem")
        let text = #"certificate: { file: "\#(pem)" }"#
        #expect(
            try check(text).faults.map(\.description) == [
                "\(Self.field).topic: missing; the certificate \"Apple Push Services: com.example.one\" is for 2 topics, one "
                    + "of which is needed: com.example.one, com.example.two"
            ])
        #expect(
            try check(text + #", topic: "com.example.three""#).faults.map(\.description) == [
                "\(Self.field).topic: \"com.example.three\" is not a topic of the certificate \"Apple Push Services: "
                    + "com.example.one\", which is for com.example.one, com.example.two"
            ])
        // VoIP pushes go to another topic than alerts.
        #expect(try check(text + #", topic: "com.example.one.voip""#).faults.count == 1)
        let right = try check(text + #", topic: "com.example.two""#)
        #expect(right.faults == [] && right.certificates.first?.topic == "com.example.two")
    }

    /// FAULTS 2.18.
    @Test func `A key that everybody may read is pointed at`() throws {
        let files = try PushCertificateFiles()
        let path = try files.write(try ES256PrivateKey.generate().pem, to: "key.p8")
        let text = #"teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { file: "\#(path)" }"#
        chmod(path, 0o644)
        // It is not where no other user may enter the folder.
        #expect(try check(text).warnings.isEmpty)
        for folder in [files.folder, "\(files.folder)/.."] { chmod(folder, 0o755) }
        let open = try check(text)
        #expect(
            open.warnings.map(\.description) == [
                "\(Self.field).key: file \(path) is readable for everybody (mode 0644); chmod 640 or less"
            ], "\(open.warnings)")
        chmod(path, 0o640)
        #expect(try check(text).warnings.isEmpty)
    }

    @Test func `Both keys of an app are read`() throws {
        let files = try PushCertificateFiles()
        let good = try files.write(try ES256PrivateKey.generate().pem, to: "good.p8")
        let bad = try files.write(Array("nonsense".utf8), to: "bad.p8")
        func report(_ key: String, _ sandbox: String) throws -> [String] {
            try check(
                """
                teamId: "ABCDE12345", keyId: "FGHIJ67890", key: { file: "\(key)" },
                sandboxKey: { keyId: "KLMNO12345", key: { file: "\(sandbox)" } }
                """
            ).faults.map { $0.field }
        }
        #expect(try report(good, good) == [])
        #expect(try report(bad, bad) == ["\(Self.field).key", "\(Self.field).sandboxKey.key"])
    }
}
