// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// The only owner of an OpenSSL certificate.
///
/// `@unchecked Sendable`: the pointer is a `let`, and the certificate is not changed (openssl-threads(7)).
@safe
final class X509Certificate: @unchecked Sendable {
    private let certificate: OpaquePointer

    /// Takes ownership of `certificate`.
    init(adopting certificate: OpaquePointer) {
        unsafe self.certificate = certificate
    }

    /// Reads a block of a PEM text; nil where that cannot be read.
    convenience init?(_ block: PEMBlock) {
        guard let memory = Memory(block.text), let read = unsafe PEM_read_bio_X509(memory.bio, nil, nil, nil) else {
            ERR_clear_error()
            return nil
        }
        unsafe self.init(adopting: read)
    }

    /// Reads DER, as Apple's site hands certificates out; nil where it is something else.
    convenience init?(der: [UInt8]) {
        guard let memory = Memory(der), let read = unsafe d2i_X509_bio(memory.bio, nil) else {
            ERR_clear_error()
            return nil
        }
        unsafe self.init(adopting: read)
    }

    deinit { unsafe X509_free(certificate) }

    func pem() throws(SigningError) -> [UInt8] {
        guard let memory = Memory(), unsafe PEM_write_bio_X509(memory.bio, certificate) == 1 else {
            throw LibraryFailure.taken("the certificate cannot be written as PEM")
        }
        return memory.contents()
    }

    /// The SHA-256 of its DER.
    func fingerprint() throws(SigningError) -> [UInt8] {
        guard let memory = Memory(), unsafe i2d_X509_bio(memory.bio, certificate) == 1 else {
            throw LibraryFailure.taken("the certificate cannot be written as DER")
        }
        return SHA256.digest(memory.contents())
    }

    /// Seconds since 1970.
    var notBefore: Int64 { unsafe Self.seconds(X509_get0_notBefore(certificate)) }
    var notAfter: Int64 { unsafe Self.seconds(X509_get0_notAfter(certificate)) }

    /// Its subject's common name; empty where it has none.
    var commonName: String { text(NID_commonName) ?? "" }
    /// Its subject's `UID` (RFC 4519, 2.39).
    var userID: String? { text(NID_userId) }

    private func text(_ field: Int32) -> String? {
        let name = unsafe X509_get_subject_name(certificate)
        var buffer = [CChar](repeating: 0, count: 256)
        let length = unsafe X509_NAME_get_text_by_NID(name, field, &buffer, Int32(buffer.count))
        guard length > 0 else { return nil }
        return String(decoding: buffer.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The content of an extension; nil where the certificate does not have it.
    func extensionContent(_ identifier: String) -> [UInt8]? {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else {
            ERR_clear_error()
            return nil
        }
        defer { unsafe ASN1_OBJECT_free(object) }
        let place = unsafe X509_get_ext_by_OBJ(certificate, object, -1)
        guard place >= 0, let data = unsafe X509_EXTENSION_get_data(X509_get_ext(certificate, place)) else {
            return nil
        }
        let count = unsafe Int(ASN1_STRING_length(data))
        guard let bytes = unsafe ASN1_STRING_get0_data(data) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The names and addresses that it is issued for: "localhost, 127.0.0.1".
    var alternativeNames: String {
        // X509V3_EXT_print(3) writes "DNS:a, IP Address:b".
        let place = unsafe X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
        guard let memory = Memory(), place >= 0,
            unsafe X509V3_EXT_print(memory.bio, X509_get_ext(certificate, place), 0, 0) == 1
        else { return "" }
        return String(decoding: memory.contents(), as: UTF8.self).split(separator: ",").map { part in
            part.split(separator: ":", maxSplits: 1).last.map { String($0.drop { $0 == " " }) } ?? ""
        }.joined(separator: ", ")
    }

    func isSigned(by issuer: X509Certificate) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_verify(certificate, X509_get0_pubkey(issuer.certificate)) == 1
    }

    func fits(_ key: EVPKey) -> Bool {
        defer { ERR_clear_error() }
        return unsafe key.withPointer { unsafe X509_check_private_key(certificate, $0) } == 1
    }

    @unsafe
    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = unsafe tm()
        guard unsafe ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return Int64(unsafe timegm(&parts))
    }
}
