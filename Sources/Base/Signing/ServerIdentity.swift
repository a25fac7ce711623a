// SPDX-License-Identifier: Apache-2.0

/// A server certificate with its chain and its key, checked to belong together and to be valid at this moment.
package struct ServerIdentity: Hashable, Sendable {
    /// PEM: the server's own certificate first, then those that lead to an authority.
    package let chain: [UInt8]
    /// PEM. A secret.
    package let privateKey: [UInt8]
    /// The end of the certificate that expires first, in seconds since 1970.
    package let notAfter: Int64
    /// The names and addresses of the server's own certificate: "localhost, 127.0.0.1".
    package let names: String

    /// The most certificates of a chain.
    private static let longest = 16

    /// - Parameter now: seconds since 1970.
    package init(chain: [UInt8], privateKey: [UInt8], at now: Int64) throws(CertificateFault) {
        let certificates: [X509Certificate]
        do throws(SigningError) {
            certificates = try Self.read(chain)
            try Self.check(certificates, at: now)
        } catch {
            throw CertificateFault(.certificate, "\(error)")
        }
        do throws(SigningError) {
            guard certificates[0].fits(try EVPKey.anyPrivateKey(pem: privateKey)) else {
                throw SigningError(
                    .mismatched, "the private key does not belong to the certificate",
                    hint: "the file has to begin with the server's own certificate, and both must be of one issue")
            }
        } catch {
            throw CertificateFault(.key, "\(error)")
        }
        // In the form that OpenSSL reads, because `ServerTLS` gets these texts.
        self.chain = PEMText.repaired(chain)
        self.privateKey = PEMText.repaired(privateKey)
        notAfter = certificates.map(\.notAfter).min() ?? 0
        names = certificates[0].alternativeNames
    }

    private static func read(_ pem: [UInt8]) throws(SigningError) -> [X509Certificate] {
        let blocks = PEMBlock.all(in: pem).filter(\.isCertificate)
        guard !blocks.isEmpty else {
            throw SigningError(
                .unreadable, "no certificate found: this is not the PEM of one",
                hint: "it has to begin with -----BEGIN CERTIFICATE-----")
        }
        guard blocks.count <= longest else {
            throw SigningError(
                .invalid, "more than \(longest) certificates", hint: "the server's own and its chain will do")
        }
        var certificates: [X509Certificate] = []
        for block in blocks {
            guard let next = X509Certificate(block) else {
                throw SigningError(.unreadable, "certificate \(certificates.count + 1) of the file is damaged")
            }
            certificates.append(next)
        }
        return certificates
    }

    /// Throws unless each is valid now, and each but the last is signed by the next.
    private static func check(_ certificates: [X509Certificate], at now: Int64) throws(SigningError) {
        for (index, certificate) in certificates.enumerated() {
            let which = index == 0 ? "the certificate" : "certificate \(index + 1) of the chain"
            if now < certificate.notBefore {
                throw SigningError(
                    .outOfDate,
                    "\(which) does not hold yet: it begins in \((certificate.notBefore - now) / 3600) hours",
                    hint: "is the clock right?")
            }
            if now >= certificate.notAfter {
                throw SigningError(
                    .outOfDate, "\(which) expired \((now - certificate.notAfter) / 86_400) days ago", hint: "renew it")
            }
            guard index + 1 < certificates.count, !certificate.isSigned(by: certificates[index + 1]) else { continue }
            throw SigningError(
                .mismatched, "\(which) is not signed by the one that follows it",
                hint: "the order is: the server's own, then each one's issuer")
        }
    }
}
