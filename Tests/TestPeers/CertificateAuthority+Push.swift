// SPDX-License-Identifier: Apache-2.0
import COpenSSL
package import Signing

extension CertificateValidity {
    /// Over since a day before `now`.
    package static func expired(at now: Int64) -> CertificateValidity {
        .days(29, from: now - 30 * 86_400)
    }
}

extension CertificateAuthority {
    /// A certificate for pushes with a fresh key, with the extensions of Apple's.
    ///
    /// - Parameters:
    ///   - name: its common name: "Apple Push Services: com.example.app".
    ///   - userID: the subject's UID, which is the topic of a certificate for one app.
    ///   - topics: each with its use; left out of the certificate if there are none.
    package func issue(
        pushCertificate name: String, userID: String?, worlds: Set<APNsWorld>,
        topics: [(name: String, use: String)] = [], validity: CertificateValidity
    ) throws -> IssuedCertificate {
        var contents = CertificateContents(
            subject: name, validity: validity,
            extensions: [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "clientAuth"),
                (NID_authority_key_identifier, "keyid:always"),
            ])
        contents.userID = userID
        let null: [UInt8] = [0x05, 0x00]
        if worlds.contains(.sandbox) { contents.rawExtensions.append(("1.2.840.113635.100.6.3.1", null)) }
        if worlds.contains(.production) { contents.rawExtensions.append(("1.2.840.113635.100.6.3.2", null)) }
        if !topics.isEmpty {
            let list = topics.flatMap { topic in
                Self.text(topic.name) + Self.encoded(0x30, Self.text(topic.use))
            }
            contents.rawExtensions.append(("1.2.840.113635.100.6.3.6", Self.encoded(0x30, list)))
        }
        return try issue(contents)
    }

    private static func text(_ text: String) -> [UInt8] { encoded(0x0C, Array(text.utf8)) }

    /// X.690, 8.1.3: the length in one byte, or in two behind their number.
    private static func encoded(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        return [tag] + (count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]) + content
    }
}
