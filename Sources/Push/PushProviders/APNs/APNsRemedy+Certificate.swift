// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import WireFormat

/// The texts for an app whose connections present a certificate.
extension APNsRemedy {
    private static let renewal =
        "make a new \"Apple Push Services\" certificate at developer.apple.com, Certificates, and put it there with its key"

    func text(
        _ fault: SendingFault, _ reason: String, _ certificate: PushCertificate, _ world: APNsWorld
    ) -> String {
        let field = "\(apns).certificate"
        switch fault {
        case .certificateExpired:
            return place.say(
                reason, "the certificate of \(app), \(certificate), ended at \(certificate.term.notAfter.internetTime)",
                "\(field): \(Self.renewal)")
        case .certificateNotYetValid:
            return place.say(
                reason,
                "the certificate of \(app), \(certificate), begins at \(certificate.term.notBefore.internetTime) only",
                "the clock, which says \(now.internetTime) (timedatectl), and \(field)")
        case .certificateWorld:
            return place.say(
                reason,
                "the certificate of \(app), \(certificate), is for \(Self.list(certificate.content.worlds)), not for "
                    + "\(world.rawValue), whose devices wait",
                "\(field): \(Self.renewal); or the environment that the devices were registered with (upgrade-relay devices "
                    + "export)")
        case .certificate where reason == "BadCertificateEnvironment":
            return place.say(
                reason,
                "APNs says that the certificate of \(app), \(certificate), is not for this environment, \(server)",
                "\(field), which is for \(Self.list(certificate.content.worlds)), and \(apns).server and sandboxServer")
        case .certificate:
            return place.say(
                reason, "APNs does not accept the certificate of \(app), \(certificate)",
                "\(field): it ends at \(certificate.term.notAfter.internetTime), must not be revoked, and must be Apple's; if "
                    + "in doubt, \(Self.renewal)")
        case .noCredential:
            return place.say(
                reason,
                "APNs saw neither a certificate nor a provider token of \(app), although the connection shows one",
                "\(apns).server and \(apns).proxy: something on the way to \(server) opens the connection and makes one of "
                    + "its own",
                after: .configuration)
        case .topic:
            return place.say(
                reason, "APNs does not accept the topic \(topic) of \(app)",
                "\(apns).topic: it must be the app's bundle id, and one of the certificate's, which are "
                    + certificate.content.alertTopics.joined(separator: ", "),
                after: .configuration)
        default:
            return place.say(
                reason, "APNs refuses the certificate of \(app), \(certificate)",
                "\(field) and \(apns).topic (\(topic)); Apple's page \"Handling notification responses from APNs\" explains "
                    + "the reason")
        }
    }

    private static func list(_ worlds: Set<APNsWorld>) -> String {
        let words = worlds.map(\.rawValue).sorted().joined(separator: " and ")
        return worlds.count == 1 ? "\(words) alone" : words
    }
}
