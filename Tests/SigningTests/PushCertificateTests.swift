// SPDX-License-Identifier: Apache-2.0
import Foundation
import RelayEngine
import TestPeers
import Testing

@testable import Signing

/// Files as people have them: PEM, DER and PKCS#12 of any age, and their faults.
@Suite("Certificates for pushes")
struct PushCertificateTests {
    private let files: PushCertificateFiles
    private let issued: IssuedCertificate

    init() throws {
        files = try PushCertificateFiles()
        issued = try files.issue()
    }

    private func read(
        _ certificate: [UInt8], key: [UInt8]? = nil, password: String? = nil, legacyProvider: String = "legacy"
    ) throws -> PushCertificate {
        try PushCertificate(
            certificate: certificate, key: key, password: password.map { Array($0.utf8) },
            legacyProvider: legacyProvider)
    }

    private func fault(
        _ certificate: [UInt8], key: [UInt8]? = nil, password: String? = nil, legacyProvider: String = "legacy"
    ) -> String? {
        do {
            _ = try read(certificate, key: key, password: password, legacyProvider: legacyProvider)
            return nil
        } catch {
            guard let fault = error as? CertificateFault else { return "\(error)" }
            return "\(fault.part.rawValue) \(fault)"
        }
    }

    /// The certificate and the key for TLS are the same from every kind of file.
    private func expectSame(_ certificate: PushCertificate) throws {
        let plain = try files.read(issued)
        #expect(certificate.fingerprint == plain.fingerprint)
        #expect(certificate.chain == issued.chain, "the chain comes along")
        #expect(
            try EVPKey.anyPrivateKey(pem: certificate.privateKey).publicPEM()
                == EVPKey.anyPrivateKey(pem: issued.privateKey).publicPEM())
        #expect(certificate.name == "Apple Push Services: com.example.app")
        #expect(certificate.content.worlds == [.production, .sandbox])
        #expect(certificate.content.alertTopics == ["com.example.app"])
        #expect(certificate.content.topics.map(\.name).count == 3)
    }

    // MARK: Files that can be read

    @Test func `PEM, in two files or in one, with the key anywhere in it`() throws {
        try expectSame(read(issued.chain, key: issued.privateKey))
        try expectSame(read(issued.chain + issued.privateKey))
        try expectSame(read(Array("Bag Attributes\r\n    friendlyName: x\n".utf8) + issued.privateKey + issued.chain))
        let crlf = Array(
            String(decoding: issued.chain + issued.privateKey, as: UTF8.self).replacing("\n", with: "\r\n").utf8)
        try expectSame(read(crlf))
    }

    @Test func `The certificate of the key is found wherever it stands`() throws {
        let blocks = PEMBlock.all(in: issued.chain)
        let turned = blocks.reversed().flatMap(\.text)
        try expectSame(read(turned, key: issued.privateKey))
    }

    @Test func `The file that Apple hands out, with its key beside`() throws {
        let pem = try files.write(issued.chain, to: "c.pem")
        try files.openssl(["x509", "-in", pem, "-outform", "DER", "-out", "\(files.folder)/aps.cer"])
        let der = try files.bytes("\(files.folder)/aps.cer")
        let certificate = try read(der, key: issued.privateKey)
        #expect(certificate.fingerprint == (try files.read(issued)).fingerprint)
        #expect(
            fault(der) == "certificate holds a certificate in DER and no key; name the key's file in `key`, or export "
                + "both as a .p12")
    }

    @Test func `A .p12 of today, and the same in base64`() throws {
        let bytes = try files.bytes(files.p12(issued, password: "geheim"))
        try expectSame(read(bytes, password: "geheim"))
        let base64 = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        try expectSame(read(Array(base64.utf8), password: "geheim"))
    }

    @Test func `A .p12 with an empty password needs none`() throws {
        let bytes = try files.bytes(files.p12(issued, password: ""))
        try expectSame(read(bytes))
        try expectSame(read(bytes, password: ""))
    }

    @Test func `A .p12 with RC2, as Keychain Access writes it`() throws {
        let path = try files.p12(issued, password: "geheim", isLegacy: true)
        let told = try files.openssl(["pkcs12", "-legacy", "-in", path, "-info", "-nodes", "-passin", "pass:geheim"])
        #expect(told.contains("pbeWithSHA1And40BitRC2-CBC"), "the file really is an old one")
        try expectSame(read(files.bytes(path), password: "geheim"))
    }

    /// Nothing else in the process may use the old ciphers.
    @Test func `The legacy provider is for that file alone`() throws {
        let path = try files.p12(issued, password: "geheim", isLegacy: true)
        _ = try read(files.bytes(path), password: "geheim")
        #expect(throws: OpeningFailure.needsLegacyProvider) {
            try PKCS12(files.bytes(path), password: Array("geheim".utf8), legacyProvider: "no-such-provider")
        }
    }

    @Test(arguments: [["-aes256"], ["-des3"]]) func `A key with a password`(cipher: [String]) throws {
        let plain = try files.write(issued.privateKey, to: "k.pem")
        try files.openssl(
            ["ec", "-in", plain, "-out", "\(files.folder)/old.pem", "-passout", "pass:geheim"] + cipher)
        try files.openssl([
            "pkcs8", "-topk8", "-in", plain, "-out", "\(files.folder)/new.pem", "-passout", "pass:geheim",
        ])
        for name in ["old.pem", "new.pem"] {
            let key = try files.bytes("\(files.folder)/\(name)")
            try expectSame(read(issued.chain, key: key, password: "geheim"))
            #expect(
                fault(issued.chain, key: key, password: "falsch")
                    == "password does not open the private key: another password is needed")
            #expect(
                fault(issued.chain, key: key)
                    == "key holds a private key that is protected by a password; name the password's place in `password`"
            )
        }
    }

    @Test func `A key with a password and RC2`() throws {
        let plain = try files.write(issued.privateKey, to: "k.pem")
        try files.openssl([
            "pkcs8", "-topk8", "-v1", "PBE-SHA1-RC2-40", "-provider", "legacy", "-provider", "default", "-in", plain,
            "-out",
            "\(files.folder)/rc2.pem", "-passout", "pass:geheim",
        ])
        let key = try files.bytes("\(files.folder)/rc2.pem")
        try expectSame(read(issued.chain, key: key, password: "geheim"))
        let text = try #require(fault(issued.chain, key: key, password: "geheim", legacyProvider: "no-such-provider"))
        #expect(text.contains("openssl pkcs8 -topk8 -provider legacy -provider default -in KEY -out NEW"))
    }

    /// openssl(1) makes all of it, with Apple's extensions as its own configuration spells them.
    @Test func `An RSA certificate that openssl has made`() throws {
        let configuration = """
            [req]
            distinguished_name=dn
            prompt=no
            x509_extensions=ext
            [dn]
            CN=Apple Push Services: com.example.one
            UID=com.example.one
            [ext]
            extendedKeyUsage=clientAuth
            1.2.840.113635.100.6.3.2=ASN1:NULL
            1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics
            [topics]
            t.0=UTF8String:com.example.one
            t.1=SEQWRAP,UTF8String:app
            t.2=UTF8String:com.example.one.voip
            t.3=SEQWRAP,UTF8String:voip
            t.4=UTF8String:com.example.two
            t.5=SEQWRAP,UTF8String:app
            """
        let path = try files.write(Array(configuration.utf8), to: "req.cnf")
        try files.openssl([
            "req", "-x509", "-config", path, "-newkey", "rsa:2048", "-nodes", "-days", "90", "-keyout",
            "\(files.folder)/rsa.key", "-out", "\(files.folder)/rsa.pem",
        ])
        let certificate = try read(
            files.bytes("\(files.folder)/rsa.pem"), key: files.bytes("\(files.folder)/rsa.key"))
        #expect(certificate.content.worlds == [.production])
        #expect(certificate.content.alertTopics == ["com.example.one", "com.example.two"])
        #expect(certificate.content.topics.map(\.uses) == [["app"], ["voip"], ["app"]])
        #expect(
            (89...90).contains(
                certificate.term.left(at: Timestamp(seconds: PushCertificateFiles.now)).milliseconds / 86_400_000))
    }

    @Test func `Without the extension the subject's UID is the topic`() throws {
        let issued = try files.authority.issue(
            pushCertificate: "Apple Development IOS Push Services: a.b", userID: "a.b",
            worlds: [.sandbox], validity: .days(1, from: PushCertificateFiles.now))
        let certificate = try files.read(issued)
        #expect(certificate.content.alertTopics == ["a.b"] && certificate.content.worlds == [.sandbox])
    }

    // MARK: Files that cannot

    @Test func `Each fault says what the file is and what is needed`() throws {
        let other = try files.issue()
        let new = try files.bytes(files.p12(issued, password: "geheim"))
        let old = try files.bytes(files.p12(issued, password: "geheim", isLegacy: true))
        for file in [new, old] {
            #expect(
                fault(file, password: "falsch")
                    == "password does not open the .p12 in `certificate`: another password is needed")
            #expect(
                fault(file)
                    == "certificate is a .p12 that is protected by a password; name the password's place in `password`")
        }
        #expect(
            fault(old, password: "geheim", legacyProvider: "no-such-provider")
                == "certificate is a .p12 that is encrypted with an old cipher (RC2), and OpenSSL's legacy provider is not "
                + "installed here; convert it where it is: openssl pkcs12 -legacy -in OLD.p12 -nodes | openssl pkcs12 "
                + "-export -out NEW.p12")
        let keyless = try files.bytes(files.p12(issued, password: "geheim", isKeyLeftOut: true))
        #expect(
            fault(keyless, password: "geheim")
                == "certificate is a .p12 without a private key; export the certificate together with its key (Keychain "
                + "Access: unfold the certificate and select both)")
        #expect(
            fault(new, key: issued.privateKey, password: "geheim")
                == "key is not needed: `certificate` is a .p12, which has its key in it; leave `key` out")
        #expect(
            fault(issued.chain, key: other.privateKey)
                == "key holds a key that does not belong to the certificate \"Apple Push Services: com.example.app\"; both "
                + "must come from the same certificate request")
        #expect(
            fault(issued.chain) == "certificate holds a certificate and no private key; name the key's file in `key`")
        #expect(
            fault(issued.privateKey, key: issued.privateKey)
                == "certificate holds no certificate, only PRIVATE KEY; it has to have -----BEGIN CERTIFICATE-----")
        #expect(
            fault(issued.chain, key: issued.chain)
                == "key holds no private key in PEM; it has to have -----BEGIN PRIVATE KEY-----")
        for nonsense in [Array("nonsense".utf8), [], [0x30, 0x82, 0x01], Array(new.prefix(new.count / 2))] {
            #expect(
                fault(nonsense, password: "geheim")?.hasPrefix("certificate is neither PEM nor a .p12") == true,
                "\(nonsense.count) bytes")
        }
        var damaged = issued.chain
        damaged[100] = UInt8(ascii: "!")
        #expect(fault(damaged, key: issued.privateKey) == "certificate certificate 1 of the file is damaged")
    }

    @Test func `A certificate for something else is refused`() throws {
        let server = try files.authority.issue(names: ["localhost"], validity: .days(1, from: PushCertificateFiles.now))
        #expect(
            fault(server.chain, key: server.privateKey)
                == "certificate holds the certificate \"localhost\", which is not one for APNs: an \"Apple Push Services\" "
                + "certificate is needed (developer.apple.com, Certificates)")
        let nameless = try files.authority.issue(
            pushCertificate: "x", userID: nil, worlds: [.production],
            validity: .days(1, from: PushCertificateFiles.now))
        #expect(
            fault(nameless.chain, key: nameless.privateKey)
                == "certificate holds the certificate \"x\", which names no app: neither a topic nor a UID")
    }

    @Test func `No fault and no description has any of the key or the password`() throws {
        let certificate = try files.read(issued)
        #expect("\(certificate)" == "\"Apple Push Services: com.example.app\"")
        let file = try files.bytes(files.p12(issued, password: "geheim"))
        #expect(fault(file, password: "falschgeheim")?.contains("geheim") == false)
    }

    // MARK: The extension's bytes

    @Test(
        arguments: [
            [], [0x30], [0x30, 0x00], [0x30, 0x02, 0x0C], [0x30, 0x80, 0x00, 0x00], [0x30, 0x02, 0x30, 0x00],
            [0x30, 0x04, 0x0C, 0x05, 0x61, 0x62], [0x0C, 0x01, 0x61], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]]) func `What is no list of topics is none`(bytes: [UInt8])
    {
        #expect(APNsCertificateContent.topics(bytes) == nil)
    }

    @Test func `A topic without uses is for all`() {
        let topics = APNsCertificateContent.topics([0x30, 0x03, 0x0C, 0x01, 0x61])
        #expect(topics == [.init(name: "a", uses: [])])
        let content = APNsCertificateContent(userID: nil) {
            $0.hasSuffix(".6") ? [0x30, 0x03, 0x0C, 0x01, 0x61] : nil
        }
        #expect(content.alertTopics == ["a"])
    }
}
