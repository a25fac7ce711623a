// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// Names of things that the API writes as codes.
extension View {
    /// The place of a fault, such as "quota:com.example.app/android".
    func name(ofPart part: String) -> String {
        let (kind, rest) = (part.prefix { $0 != ":" }, part.drop { $0 != ":" }.dropFirst())
        let place = name(ofPart: kind)
        guard !rest.isEmpty else { return place }
        // An app's iOS needs no platform in the name; what else follows is a channel or a source.
        let pieces = rest.split(maxSplits: 7) { $0 == "/" || $0 == ":" }.map(String.init)
        let platform = pieces.dropFirst().first.flatMap(Platform.init(rawValue:))
        let more = pieces.dropFirst(platform == nil ? 1 : 2)
        let app = name(AppKey(app: pieces.first ?? "", platform: platform ?? .ios))
        return "\(place) (\(([app] + more).joined(separator: ", ")))"
    }

    private func name(ofPart kind: Substring) -> String {
        if let provider = ProviderName(rawValue: String(kind)) { return say("Connection to %", provider.text) }
        switch kind {
        case "store": return say("The store")
        case "past": return say("The store's past")
        case "watcher": return say("Looking for versions")
        case "gates": return say("Asking app stores")
        case "evidence": return say("Answers of app stores")
        case "app": return say("The app")
        case "outage": return say("The push service fails")
        case "credential": return say("Credential")
        case "quota": return say("Quota")
        case "pause": return say("Pause of the key")
        case "stopped": return say("A push service is stopped")
        case "environment": return say("Push environment")
        case "certificate": return say("Push certificate")
        case "node": return say("This relay's lease")
        case "claims": return say("Campaigns that no relay sends")
        case "relays": return say("Other relays")
        case "configuration": return say("Configuration")
        case "source": return say("Source of versions")
        case "listen": return say("Address")
        case "version": return say("Version")
        default: return String(kind)
        }
    }

    /// The actor's name: a person's as it is, the relay in the reader's language.
    func name(_ actor: Principal) -> String {
        actor.kind == .relay ? say("relay") : actor.name == Principal.nameless ? say("not known") : actor.name
    }

    /// A field of an audit entry: words for the commonest ones, else the API's own name.
    func word(ofField name: String) -> String {
        switch Field(rawValue: name) {
        case .act: say("What")
        case .apps: say("Apps")
        case .askedBy: say("Asked by")
        case .blocked: say("Blocked")
        case .devices: say("Devices")
        case .downloadUrl: say("Download address")
        case .id: say("Request")
        case .inForce: say("In force")
        case .latest: say("Latest")
        case .message: say("Message")
        case .of: say("Of")
        case .percent: say("Percent of the users")
        case .reason: say("Reason")
        case .required: say("Required")
        case .scopes: say("Allows")
        case .state: say("State")
        case .telephoneCount: say("Phone numbers")
        case .until: say("Until")
        case .wave: say("Wave")
        default: RequirementField.allCases.first { $0.name.description == name }.map { say($0.label) } ?? name
        }
    }

    /// The way by which a change came.
    func word(ofWay way: String) -> String {
        switch way {
        case "api": say("API")
        case "cli": say("command")
        case "page": say("page")
        case "webhook": say("webhook")
        case "release": say("release")
        case "relay": say("relay")
        default: way
        }
    }

    func word(ofAction name: String) -> String { AuditAction(rawValue: name).map(word) ?? name }

    func word(_ action: AuditAction) -> String {
        switch action {
        case .versionBump: say("Version raised")
        case .versionBlock: say("Version blocked")
        case .versionUnblock: say("Version unblocked")
        case .versionRelease: say("Version released")
        case .versionWithdraw: say("Version withdrawn")
        case .campaignPause: say("Campaign paused")
        case .campaignResume: say("Campaign resumed")
        case .campaignHurry: say("Campaign sent whatever the hour")
        case .campaignRelease: say("Campaign approved")
        case .campaignCancel: say("Campaign cancelled")
        case .campaignRetry: say("Campaign retried")
        case .approvalAsk: say("Second person asked for")
        case .approvalApprove: say("Approved by a second person")
        case .approvalRefuse: say("Refused by a second person")
        case .approvalAlone: say("Done by one person alone")
        case .alertSet: say("Notice set")
        case .alertClear: say("Notice cleared")
        case .tokenCreate: say("API token created")
        case .tokenRevoke: say("API token revoked")
        case .sessionEnd: say("Browser signed out")
        case .deviceRemove: say("Device removed")
        case .userErase: say("User erased")
        case .relayReload: say("Configuration reloaded")
        case .logLevel: say("Level of the log set")
        case .storeAccept: say("Older store accepted")
        case .campaignCreate: say("Campaign made")
        case .campaignWait: say("Campaign waits")
        case .campaignBegin: say("Campaign begun")
        case .campaignWave: say("Wave begun")
        case .campaignSuspend: say("Campaign suspended")
        case .campaignComplete: say("Campaign completed")
        case .campaignSupersede: say("Campaign superseded")
        case .campaignRemind: say("Users reminded")
        }
    }
}
