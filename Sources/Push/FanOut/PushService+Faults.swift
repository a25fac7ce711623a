// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import WireFormat

/// A push service's faults: their names in the log of faults, and what `/readyz`, the page and the campaign say of them.
extension PushService {
    var connectionPart: String { key.part(providerName.lowercased()) }
    var outagePart: String { key.part("outage") }
    var environmentPart: String { key.part("environment") }
    var credentialPart: String { key.part("credential") }

    func unreachableText(_ error: String) -> String {
        let place =
            key.channel == .sandbox
            ? "the push service's sandbox" : key.channel.isBeside ? providerName : "the push service"
        return "cannot reach \(place): \(error); it is dialled again by itself, after 75 s at the most"
    }

    func outageText(until: Timestamp) -> String {
        "the push service answers \(outageText) to nearly every push: sending waits and goes on by itself; "
            + "the next try is at \(until.internetTime)"
    }

    func pauseText(_ pause: (until: Timestamp, reason: String)) -> String {
        "\(pause.reason): \(providerName) wants a pause from this key; sending goes on by itself at "
            + pause.until.internetTime
    }

    func quotaText(of project: String, until: Timestamp) -> String {
        "the quota of the project is reached (\(project)): sending goes on by itself at \(until.internetTime)"
    }

    func quarterHourText(until: Timestamp) -> String {
        "waiting until \(until.internetTime): \(providerName) asks that no campaign begins around a quarter of an hour"
    }

    /// Nearly all tokens of the channel are taken by the app's other environment.
    func misplacedText(_ trip: CredentialBreaker.Trip) -> String {
        let (own, other) = (key.channel.environment.name, key.channel.other.environment.name)
        return
            "\(trip.pushes) of the last \(trip.answers) tokens are taken by \(other) and not by \(own), where their devices "
            + "are registered: they are pushed to, and the devices stay as they are registered"
    }
}
