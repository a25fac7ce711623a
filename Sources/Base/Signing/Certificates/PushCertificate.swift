// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// An Apple certificate for pushes with the key that belongs to it. A connection to APNs uses it where no provider token is
/// signed.
///
/// The time is not checked here: the holder compares `term` with the clock.
package struct PushCertificate: Sendable, Hashable, CustomStringConvertible {
    /// PEM: the certificate itself first, then those that came with it.
    package let chain: [UInt8]
    /// PEM, PKCS#8, without a password. A secret.
    package let privateKey: [UInt8]
    /// Its subject's common name: "Apple Push Services: com.example.app".
    package let name: String
    package let term: CertificateTerm
    package let content: APNsCertificateContent
    /// Identifies the certificate.
    package let fingerprint: [UInt8]

    /// Does not show the key.
    package var description: String { "\"\(name)\"" }

    package static func == (left: PushCertificate, right: PushCertificate) -> Bool {
        left.fingerprint == right.fingerprint && left.chain == right.chain
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }

    /// Reads the files by their content, whatever their names: PEM (the key in the same text or in one of its own), a
    /// certificate in DER with a key in PEM, or PKCS#12. The last two may be written in base64, as environment variables
    /// need it.
    ///
    /// - Parameters:
    ///   - key: nil: it is in the same file as the certificate.
    ///   - password: the password of the key, or of the PKCS#12 file.
    ///   - legacyProvider: the name of OpenSSL's provider for RC2.
    package init(
        certificate: [UInt8], key: [UInt8]?, password: [UInt8]?, legacyProvider: String = "legacy"
    ) throws(CertificateFault) {
        let found = try Self.read(certificate, key, password, legacyProvider)
        content = APNsCertificateContent(userID: found.leaf.userID) { found.leaf.extensionContent($0) }
        guard !content.worlds.isEmpty else {
            throw CertificateFault(
                .certificate,
                "holds the certificate \"\(found.leaf.commonName)\", which is not one for APNs: an \"Apple Push Services\" "
                    + "certificate is needed (developer.apple.com, Certificates)")
        }
        guard !content.topics.isEmpty else {
            throw CertificateFault(
                .certificate,
                "holds the certificate \"\(found.leaf.commonName)\", which names no app: neither a topic nor a UID")
        }
        name = found.leaf.commonName
        term = CertificateTerm(
            notBefore: Timestamp(seconds: found.leaf.notBefore), notAfter: Timestamp(seconds: found.leaf.notAfter))
        do throws(SigningError) {
            var texts: [UInt8] = []
            for next in [found.leaf] + found.chain { texts += try next.pem() }
            chain = texts
            fingerprint = try found.leaf.fingerprint()
        } catch {
            throw CertificateFault(.certificate, "\(error)")
        }
        privateKey = found.key
    }

    private typealias Found = (leaf: X509Certificate, chain: [X509Certificate], key: [UInt8])

    private static func read(
        _ certificate: [UInt8], _ key: [UInt8]?, _ password: [UInt8]?, _ legacyProvider: String
    ) throws(CertificateFault) -> Found {
        let blocks = PEMBlock.all(in: certificate)
        guard blocks.isEmpty else { return try readPEM(blocks, key, password, legacyProvider) }
        // PKCS#12 and DER begin with a sequence (X.690); in base64 that is "MI".
        let der = certificate.first == 0x30 ? certificate : decoded(certificate) ?? certificate
        if let leaf = X509Certificate(der: der) {
            guard let key else {
                throw CertificateFault(
                    .certificate,
                    "holds a certificate in DER and no key; name the key's file in `key`, or export both as a .p12")
            }
            let pem = try readKey(PEMBlock.all(in: key), password, legacyProvider, part: .key)
            return try fitting(leaf, [], pem, part: .key)
        }
        return try readPKCS12(der, key, password, legacyProvider)
    }

    private static func decoded(_ file: [UInt8]) -> [UInt8]? {
        let text = (try? TextFile.utf8(file)) ?? file
        // Quotes too: files of variables have them.
        let digits = text.filter { ![0x0A, 0x0D, 0x20, 0x09, 0x22, 0x27].contains($0) }
        return Base64.decode(String(decoding: digits, as: UTF8.self))
    }

    // MARK: PEM

    private static func readPEM(
        _ blocks: [PEMBlock], _ key: [UInt8]?, _ password: [UInt8]?, _ legacyProvider: String
    ) throws(CertificateFault) -> Found {
        var certificates: [X509Certificate] = []
        for (index, block) in blocks.filter(\.isCertificate).enumerated() {
            guard let next = X509Certificate(block) else {
                throw CertificateFault(.certificate, "certificate \(index + 1) of the file is damaged")
            }
            certificates.append(next)
        }
        guard !certificates.isEmpty else {
            let labels = Set(blocks.map(\.label)).sorted().joined(separator: ", ")
            throw CertificateFault(
                .certificate, "holds no certificate, only \(labels); it has to have -----BEGIN CERTIFICATE-----")
        }
        guard certificates.count <= longestChain else {
            throw CertificateFault(
                .certificate, "holds \(certificates.count) certificates; the app's own and its chain will do")
        }
        let keyBlocks = key.map(PEMBlock.all) ?? blocks
        guard key != nil || keyBlocks.contains(where: \.isPrivateKey) else {
            throw CertificateFault(
                .certificate, "holds a certificate and no private key; name the key's file in `key`")
        }
        let part: CertificateFault.Part = key == nil ? .certificate : .key
        let pem = try readKey(keyBlocks, password, legacyProvider, part: part)
        // The key's certificate may stand anywhere in the file: `fitting` finds it.
        return try fitting(certificates[0], Array(certificates.dropFirst()), pem, part: part)
    }

    private static let longestChain = 16

    private static func fitting(
        _ first: X509Certificate, _ others: [X509Certificate], _ pem: [UInt8], part: CertificateFault.Part
    ) throws(CertificateFault) -> Found {
        let all = [first] + others
        guard let key = try? EVPKey.anyPrivateKey(pem: pem), let leaf = all.first(where: { $0.fits(key) }) else {
            throw CertificateFault(
                part,
                "holds a key that does not belong to the certificate \"\(first.commonName)\"; both must come from the same "
                    + "certificate request")
        }
        return (leaf, all.filter { $0 !== leaf }, pem)
    }

    /// - Returns: the key without a password.
    private static func readKey(
        _ blocks: [PEMBlock], _ password: [UInt8]?, _ legacyProvider: String, part: CertificateFault.Part
    ) throws(CertificateFault) -> [UInt8] {
        guard let block = blocks.first(where: \.isPrivateKey) else {
            throw CertificateFault(part, "holds no private key in PEM; it has to have -----BEGIN PRIVATE KEY-----")
        }
        do throws(OpeningFailure) {
            return try EVPKey.opened(block.text, password: password, legacyProvider: legacyProvider)
        } catch {
            switch error {
            case .wrongPassword(given: true):
                throw CertificateFault(.password, "does not open the private key: another password is needed")
            case .wrongPassword(given: false):
                throw CertificateFault(
                    part, "holds a private key that is protected by a password; name the password's place in `password`"
                )
            case .needsLegacyProvider:
                throw CertificateFault(
                    part,
                    "holds a private key that cannot be opened: the password is another one, or the key is encrypted with an "
                        + "old cipher, and OpenSSL's legacy provider is not installed here. In that case store it anew where "
                        + "it is: openssl pkcs8 -topk8 -provider legacy -provider default -in KEY -out NEW")
            case .damaged(let reason): throw CertificateFault(part, "\(reason)")
            }
        }
    }

    // MARK: PKCS#12

    private static func readPKCS12(
        _ der: [UInt8], _ key: [UInt8]?, _ password: [UInt8]?, _ legacyProvider: String
    ) throws(CertificateFault) -> Found {
        let file: PKCS12
        do throws(OpeningFailure) {
            file = try PKCS12(der, password: password, legacyProvider: legacyProvider)
        } catch {
            throw fault(error)
        }
        guard key == nil else {
            throw CertificateFault(
                .key, "is not needed: `certificate` is a .p12, which has its key in it; leave `key` out")
        }
        guard let pem = file.key else {
            throw CertificateFault(
                .certificate,
                "is a .p12 without a private key; export the certificate together with its key (Keychain Access: unfold the "
                    + "certificate and select both)")
        }
        guard let leaf = file.leaf else {
            throw CertificateFault(
                .certificate,
                file.chain.isEmpty
                    ? "is a .p12 with a key and no certificate; export both together"
                    : "is a .p12 whose key belongs to none of its certificates; export the certificate together with its own "
                        + "key")
        }
        return (leaf, file.chain, pem)
    }

    private static func fault(_ failure: OpeningFailure) -> CertificateFault {
        switch failure {
        case .wrongPassword(given: true):
            CertificateFault(.password, "does not open the .p12 in `certificate`: another password is needed")
        case .wrongPassword(given: false):
            CertificateFault(
                .certificate, "is a .p12 that is protected by a password; name the password's place in `password`")
        case .needsLegacyProvider:
            CertificateFault(
                .certificate,
                "is a .p12 that is encrypted with an old cipher (RC2), and OpenSSL's legacy provider is not installed here; "
                    + "convert it where it is: openssl pkcs12 -legacy -in OLD.p12 -nodes | openssl pkcs12 -export -out NEW.p12"
            )
        case .damaged(let reason): CertificateFault(.certificate, "\(reason)")
        }
    }
}
