// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A server certificate with its chain and its key, found to belong together and to hold at this moment.
package struct ServerIdentity: Hashable, Sendable {
    /// PEM: the server's own certificate first, then those that lead to an authority.
    package let chain: [UInt8]
    /// PEM. A secret.
    package let privateKey: [UInt8]
    /// Seconds since 1970 after which the first certificate of the chain to end holds no more.
    package let notAfter: Int64
    /// The names and addresses of the server's own certificate, as it has them: "localhost, 127.0.0.1".
    package let names: String

    /// Which of the two a fault is about.
    package enum Part: String, Hashable, Sendable {
        case certificate
        case key
    }

    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package var part: Part
        package var error: SigningError
        package var description: String { error.description }
    }

    /// The most certificates of a chain.
    private static let longest = 16

    /// - Parameter now: seconds since 1970.
    package init(chain: [UInt8], privateKey: [UInt8], at now: Int64) throws(Fault) {
        let certificates: Certificates
        do {
            certificates = try Certificates(pem: chain, limit: Self.longest)
            try certificates.check(at: now)
        } catch {
            throw Fault(part: .certificate, error: error)
        }
        do {
            try Self.check(privateKey, fits: certificates)
        } catch {
            throw Fault(part: .key, error: error)
        }
        self.chain = chain
        self.privateKey = privateKey
        notAfter = certificates.notAfter
        names = certificates.names
    }

    private static func check(_ pem: [UInt8], fits certificates: Certificates) throws(SigningError) {
        let key = try unsafe EVPKey.readPrivateKey(pem)
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe certificates.leafFits(key) else {
            throw SigningError(
                .wrongKey, "the private key does not belong to the certificate",
                hint: "the file has to begin with the server's own certificate, and both must be of one issue")
        }
    }
}

/// The certificates of one PEM text, freed at the end of their scope.
@safe
private final class Certificates {
    private let list: [OpaquePointer]

    init(pem: [UInt8], limit: Int) throws(SigningError) {
        guard let memory = Memory(pem) else { throw LibraryFailure.taken("no memory for a certificate") }
        var list: [OpaquePointer] = unsafe []
        while unsafe list.count <= limit, let next = unsafe PEM_read_bio_X509(memory.bio, nil, nil, nil) {
            unsafe list.append(next)
        }
        // "No start line" is how the text ends; anything else is a certificate that cannot be read.
        let reason = ERR_GET_REASON(ERR_peek_last_error())
        ERR_clear_error()
        let isWhole = reason == PEM_R_NO_START_LINE
        unsafe self.list = unsafe list
        if unsafe list.isEmpty, isWhole {
            throw SigningError(
                .notPEM, "no certificate found: this is not the PEM of one",
                hint: "it has to begin with -----BEGIN CERTIFICATE-----")
        }
        if unsafe list.count > limit {
            throw SigningError(
                .library, "more than \(limit) certificates", hint: "the server's own and its chain will do")
        }
        guard isWhole else {
            throw SigningError(.library, "certificate \(unsafe list.count + 1) of the file is damaged")
        }
    }

    deinit {
        for index in unsafe 0..<list.count { unsafe X509_free(list[index]) }
    }

    /// The first certificate's end to come, in seconds since 1970.
    var notAfter: Int64 {
        var first = Int64.max
        for index in unsafe 0..<list.count { first = unsafe min(first, Self.seconds(X509_get0_notAfter(list[index]))) }
        return first
    }

    var names: String {
        guard let leaf = unsafe list.first, let memory = Memory() else { return "" }
        // X509V3_EXT_print(3) writes "DNS:a, IP Address:b".
        let place = unsafe X509_get_ext_by_NID(leaf, NID_subject_alt_name, -1)
        guard place >= 0, unsafe X509V3_EXT_print(memory.bio, X509_get_ext(leaf, place), 0, 0) == 1 else { return "" }
        return String(decoding: memory.contents(), as: UTF8.self).split(separator: ",").map { part in
            part.split(separator: ":", maxSplits: 1).last.map { String($0.drop { $0 == " " }) } ?? ""
        }.joined(separator: ", ")
    }

    /// Whether each holds, and each but the last is signed by the next.
    func check(at now: Int64) throws(SigningError) {
        for index in unsafe 0..<list.count {
            let which = index == 0 ? "the certificate" : "certificate \(index + 1) of the chain"
            let start = unsafe Self.seconds(X509_get0_notBefore(list[index]))
            let end = unsafe Self.seconds(X509_get0_notAfter(list[index]))
            if now < start {
                throw SigningError(
                    .library, "\(which) does not hold yet: it begins in \((start - now) / 3600) hours",
                    hint: "is the clock right?")
            }
            if now >= end {
                throw SigningError(
                    .library, "\(which) expired \((now - end) / 86_400) days ago", hint: "renew it")
            }
            guard unsafe index + 1 < list.count else { continue }
            let key = unsafe X509_get0_pubkey(list[index + 1])
            let isSigned = unsafe X509_verify(list[index], key) == 1
            ERR_clear_error()
            if !isSigned {
                throw SigningError(
                    .library, "\(which) is not signed by the one that follows it",
                    hint: "the order is: the server's own, then each one's issuer")
            }
        }
    }

    @unsafe
    func leafFits(_ key: OpaquePointer) -> Bool {
        defer { ERR_clear_error() }
        return unsafe list.first.map { unsafe X509_check_private_key($0, key) == 1 } ?? false
    }

    @unsafe
    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return Int64(unsafe timegm(&parts))
    }
}
