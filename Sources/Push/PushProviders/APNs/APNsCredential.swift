// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import Signing

/// The credential that allows an app's pushes, in one of Apple's environments.
package enum APNsCredential: Sendable {
    /// A key signs a token, which each push carries.
    case key(APNsTokenSource, of: APNsKeyPlace)
    /// The connection presents a certificate; a token in a push is ignored (PROTOCOLS 1.4).
    case certificate(PushCertificate, in: APNsWorld)

    /// The identity by which providers differ.
    var identity: AnyHashable {
        switch self {
        case .key(let tokens, _): ObjectIdentifier(tokens)
        case .certificate(let certificate, _): certificate
        }
    }

    /// Throws the fault that keeps it from being used in any push at this moment.
    func check(at now: Timestamp) throws(UnusableCredential) {
        guard case .certificate(let certificate, let world) = self else { return }
        guard certificate.content.worlds.contains(world) else {
            throw UnusableCredential(reason: "CertificateEnvironment", fault: .certificateWorld)
        }
        switch certificate.term.standing(at: now) {
        case .good, .ending: break
        case .notYet: throw UnusableCredential(reason: "CertificateNotYetValid", fault: .certificateNotYetValid)
        case .ended: throw UnusableCredential(reason: "CertificateExpired", fault: .certificateExpired)
        }
    }
}

/// The place in an app's section of the configuration where a key is named.
package enum APNsKeyPlace: String, Sendable, Hashable {
    case both = "apns"
    /// The sandbox has a key of its own.
    case sandbox = "apns.sandboxKey"
}
