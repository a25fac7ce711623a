// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import WireFormat

/// The text for an operator when a campaign is suspended: what is wrong, with which app, which field of the configuration to look
/// at, and how to go on.
struct FCMRemedy {
    let place: SendingPlace
    let project: String
    let account: String

    private var app: String { place.app }
    private var fcm: String { "\(place.section).fcm" }

    /// - Parameters:
    ///   - reason: FCM's word; where no access token is available, the text of `UnusableCredential`.
    ///   - refused: how many of the first pushes were refused; only for `.mostlyRefused` and `.mostlyUnregistered`.
    func text(_ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)?) -> String {
        switch fault {
        case .credential where reason.hasPrefix(UnusableCredential.refusalWord):
            // Google's own text explains what to do about the account.
            return place.say(
                reason, nil,
                "\(fcm).serviceAccount (\(account)), and this machine's clock, which says \(place.now.internetTime)")
        case .credential, .noCredential, .clock:
            return place.say(
                reason, "FCM does not accept the access tokens of \(app), not even a new one",
                "\(fcm).serviceAccount (\(account)): the account must not be disabled; \(fcm).server and \(fcm).proxy: "
                    + "nothing on the way to \(place.server) may take the token out; and this machine's clock, which says "
                    + place.now.internetTime)
        case .forbidden:
            return place.say(
                reason, forbidden(reason), forbiddenCheck(reason),
                after: isOfGoogleCloud(reason) ? .elsewhere : .configuration)
        case .topic:
            return place.say(
                reason, "the project \(project) of \(app) is not one that FCM knows, or not the account's",
                "\(fcm).project: the project id of the app's Firebase project, not its number or name",
                after: .configuration)
        case .request:
            return place.say(
                reason, "FCM finds the pushes of \(app) malformed",
                "\(place.section).push, \(fcm).packageName and \(fcm).notification",
                after: .configuration)
        case .answer:
            return place.say(
                reason,
                "what answers for \(app) at \(place.server) is not FCM, or does not know the project \(project)",
                "\(fcm).server, \(fcm).proxy and \(fcm).project",
                after: .configuration)
        case .mostlyRefused:
            return mostlyRefused(reason, place.share(refused))
        case .mostlyUnregistered:
            return place.mostlyUnregistered("UNREGISTERED", refused, "\(fcm).project (\(project)) and \(fcm).server")
        case .keyOfService:
            return place.say(
                reason, "APNs refuses the key that FCM has for the iPhones of \(app)",
                "the APNs authentication key in the Firebase console of \(project), Project settings, Cloud Messaging: key, key id "
                    + "and team id; FCM can use it some minutes later",
                after: .elsewhere)
        case .unknown, .keyEnvironment, .unrelatedKey, .certificate, .certificateExpired, .certificateNotYetValid,
            .certificateWorld:
            return place.say(
                reason, "FCM refuses the pushes of \(app)",
                "\(fcm): serviceAccount (\(account)) and project (\(project)); Google's page \"FCM error codes\" explains "
                    + "the reason")
        }
    }

    private func forbidden(_ reason: String) -> String {
        switch reason {
        case "SERVICE_DISABLED": "the FCM API is not enabled in the project \(project) of \(app)"
        case "SECURITY_POLICY_VIOLATED": "a policy of the organisation that owns the project \(project) forbids this"
        case "CONSUMER_SUSPENDED": "Google has suspended the project \(project) of \(app)"
        default: "FCM forbids the account of \(app) to push to the project \(project)"
        }
    }

    private func forbiddenCheck(_ reason: String) -> String {
        switch reason {
        case "SERVICE_DISABLED":
            "in Google Cloud, APIs & Services, that \"Firebase Cloud Messaging API\" is enabled for \(project); a change "
                + "takes some minutes"
        case "SECURITY_POLICY_VIOLATED":
            "the organisation's policies in Google Cloud (VPC Service Controls, service account keys) with their administrator"
        case "CONSUMER_SUSPENDED": "the project's billing and messages in Google Cloud"
        default:
            "\(fcm).project, and in Google Cloud, IAM, that \(account) has cloudmessaging.messages.create there (role "
                + "\"Firebase Cloud Messaging API Admin\"), that the API is enabled and that no policy of the organisation "
                + "forbids it"
        }
    }

    /// Whether the cause is corrected in Google Cloud alone.
    private func isOfGoogleCloud(_ reason: String) -> Bool {
        ["SERVICE_DISABLED", "SECURITY_POLICY_VIOLATED", "CONSUMER_SUSPENDED"].contains(reason)
    }

    private func mostlyRefused(_ reason: String, _ share: String) -> String {
        switch reason {
        case "SENDER_ID_MISMATCH":
            place.say(
                reason, "\(share): these tokens are of another Firebase project than \(project)",
                "\(fcm).project and \(fcm).serviceAccount, and under which app the devices were registered; no token was "
                    + "given up")
        case "INVALID_ARGUMENT":
            place.say(
                reason, "\(share): these are no tokens of FCM",
                "what your service registers as token (the app's registration token, whole); no token was given up",
                after: .elsewhere)
        case "THIRD_PARTY_AUTH_ERROR", "APNS_AUTH_ERROR":
            place.say(
                reason, "\(share): these tokens are of iPhones or browsers, and FCM's own key for those is wrong",
                "the keys in the Firebase console, Cloud Messaging; iPhones are better reached by apns; no token was given up",
                after: .elsewhere)
        default:
            place.say(
                reason, share, "\(place.section).push and \(fcm); no token was given up", after: .configuration)
        }
    }
}
