// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import WireFormat

/// The text for an operator when a campaign is suspended: what is wrong, with which app, which field of the configuration to look
/// at, and how to go on.
struct APNsRemedy {
    let place: SendingPlace
    let topic: String
    let credential: APNsCredential

    var app: String { place.app }
    var server: String { place.server }
    var now: Timestamp { place.now }
    var apns: String { "\(place.section).apns" }

    /// - Parameters:
    ///   - refused: how many of the first pushes were refused; only for `.mostlyRefused` and `.mostlyUnregistered`.
    func text(_ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)?) -> String {
        switch fault {
        case .request:
            return place.say(
                reason, "APNs finds the pushes of \(app) malformed", "\(place.section).push and \(apns).topic",
                after: .configuration)
        case .answer:
            return place.say(
                reason, "what answers for \(app) at \(server) is not APNs",
                "\(apns).server and \(apns).proxy",
                after: .configuration)
        case .mostlyRefused:
            return mostlyRefused(reason, place.share(refused))
        case .mostlyUnregistered:
            return place.mostlyUnregistered("Unregistered", refused, "\(apns).server and \(apns).topic")
        case .credential, .clock, .noCredential, .certificate, .certificateExpired, .certificateNotYetValid,
            .certificateWorld, .forbidden, .keyEnvironment, .unrelatedKey, .topic, .unknown, .keyOfService:
            switch credential {
            case .key(let tokens, let holder): return text(fault, reason, tokens, holder)
            case .certificate(let certificate, let world): return text(fault, reason, certificate, world)
            }
        }
    }

    // MARK: Where a key signs

    private func text(
        _ fault: SendingFault, _ reason: String, _ tokens: APNsTokenSource, _ holder: APNsKeyPlace
    ) -> String {
        let (teamID, keyID) = (tokens.teamID, tokens.keyID)
        let key = "\(place.section).\(holder.rawValue)"
        switch fault {
        case .clock:
            return place.say(
                reason, "APNs calls a fresh provider token of \(app) expired, so this machine's clock is wrong",
                "the clock, which says \(now.internetTime) (timedatectl); no new token is signed before that",
                after: .elsewhere)
        case .noCredential:
            return place.say(
                reason, "APNs saw no provider token in the pushes of \(app), although each carries one",
                "\(apns).server and \(apns).proxy: something on the way to \(server) takes it out",
                after: .configuration)
        case .certificate:
            return place.say(
                reason, "APNs judges a client certificate for \(app), and this relay uses none",
                "\(apns).server and \(apns).proxy: something on the way to \(server) presents one",
                after: .configuration)
        case .forbidden:
            return place.say(
                reason, "APNs forbids the key of \(app) to push",
                "\(key).keyId (\(keyID)): at developer.apple.com, Keys, it must have the Apple Push Notifications "
                    + "service enabled for the topic \(topic), and a topic-specific key must list that topic")
        case .keyEnvironment:
            return place.say(
                reason, "the key of \(app) is not for this environment of APNs, \(server)",
                "\(key): keyId (\(keyID)) and key of a key for that environment (a key that is for one environment only "
                    + "goes to apns, the one for the other to apns.sandboxKey), or server and sandboxServer, if it is the "
                    + "wrong one")
        case .unrelatedKey:
            return place.say(
                reason, "APNs takes the key of \(app) for one of another family, on new connections too",
                "\(key): keyId (\(keyID)), key and teamId (\(teamID)) must be those of topic \(topic); a topic-specific "
                    + "key goes with keys of its own family alone")
        case .topic:
            return place.say(
                reason, "APNs does not accept the topic \(topic) of \(app)",
                "\(apns).topic: it must be the app's bundle id, and the key \(keyID) of team \(teamID) must be allowed to "
                    + "push to it; a topic-specific key must list it (developer.apple.com, Keys)",
                after: .configuration)
        case .unknown:
            return place.say(
                reason, "APNs refuses the credential of \(app)",
                "\(key): keyId (\(keyID)), teamId (\(teamID)), topic (\(topic)); Apple's page \"Handling notification "
                    + "responses from APNs\" explains the reason")
        default:
            return place.say(
                reason, "APNs does not accept the provider token of \(app)",
                "\(key): key, keyId (\(keyID)) and teamId (\(teamID)) must belong together and the key must not be "
                    + "revoked; and this machine's clock, which says \(now.internetTime), must be right")
        }
    }

    // MARK: Refused pushes

    private func mostlyRefused(_ reason: String, _ share: String) -> String {
        switch reason {
        case "BadDeviceToken":
            place.say(
                reason, "\(share): these tokens are not of this environment of APNs, or not of this app",
                "\(apns).server, and the environment that the devices were registered with (upgrade-relay devices "
                    + "export); no token was given up",
                after: .configuration)
        case "DeviceTokenNotForTopic":
            place.say(
                reason, "\(share): these tokens are of another app than the topic \(topic)",
                "\(apns).topic, and under which app the devices were registered; no token was given up",
                after: .configuration)
        default:
            place.say(reason, share, "\(place.section).push and \(apns); no token was given up", after: .configuration)
        }
    }
}
