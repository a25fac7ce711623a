// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import Signing

/// What an app's pushes are allowed by, in one of Apple's worlds.
package enum APNsCredential: Sendable {
    /// A key signs a token, which each push carries.
    case key(APNsTokenSource, of: APNsKeyPlace)
    /// The connection shows a certificate; what a push carries besides is ignored (PROTOCOLS 1.4).
    case certificate(PushCertificate, in: APNsWorld)

    /// What a provider is told apart by.
    var identity: AnyHashable {
        switch self {
        case .key(let tokens, _): ObjectIdentifier(tokens)
        case .certificate(let certificate, _): certificate
        }
    }

    /// What keeps it from being used in any push at this moment.
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

/// Where in an app's section of the configuration a key is named.
package enum APNsKeyPlace: String, Sendable, Hashable {
    case both = "apns"
    /// The sandbox has a key of its own.
    case sandbox = "apns.sandboxKey"
}
