// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules
import WireFormat

/// One thing that keeps the daemon from its work, or from a part of it, for `readyz` and the log.
package struct ReadinessFault: Sendable, Hashable {
    /// A short, bounded name: "store", "apns:com.example.app", …
    package var part: String
    package var reason: String

    package init(part: String, reason: String) {
        self.part = part
        self.reason = reason
    }

    static let store = "store"
    /// The store went back in time.
    package static let past = "past"

    /// Whether requests cannot be answered or recorded while it lasts. A load balancer must not act on the other faults:
    /// another relay would meet the same outage, and the login check works despite a refused reload.
    var stopsRequests: Bool { part == Self.store || part == Self.past }

    /// The remedy, for an operator.
    package var remedy: String {
        switch part.prefix(while: { $0 != ":" }) {
        case Self.store[...]:
            "look at the free space, at other programs that have the file open, and at `upgrade-relay store check`; all goes on by itself when the "
                + "store takes writes"
        case Self.past[...]:
            "put the newest store back, and it goes on by itself; or repeat over the control socket what was lost (withdraw, erase, revoke), "
                + "and run `upgrade-relay store accept`"
        case "watcher":
            "look at the log and at `upgrade-relay store check`; it is tried again five times a second"
        case "gates":
            "look at the log and at `upgrade-relay store check`; it is tried again every five seconds, and what waits goes on waiting"
        case "evidence":
            "look at the log and at `upgrade-relay store check`; it is tried again every half a minute, and until then a restart forgets "
                + "what the app stores said since"
        case "app":
            "do what the reason says; if it names the store, run `upgrade-relay store check`. The other apps go on"
        case let part where ProviderName(rawValue: String(part)) != nil:
            "look at the network, DNS, the proxy and the firewall's outgoing rules; it is dialled again by itself, and "
                + "`upgrade-relay campaigns resume ID` tries at once"
        case "outage":
            "look at \(Self.anyProvider(\.statusPage, or: ", or ")); if that reports no trouble, at server and proxy of "
                + "\(Self.anyProvider(\.rawValue)). It is probed by itself, and `upgrade-relay campaigns resume ID` probes at once"
        case "credential":
            "look at the network and at \(Self.anyProvider(\.proxyKey) { $0.asksForCredential }); it is asked for again by itself, "
                + "and `upgrade-relay campaigns resume ID` asks at once"
        case "quota":
            "if it happens often, another program uses the project: lower \(Self.anyProvider(\.quotaKey) { $0.hasQuota }). It ends "
                + "by itself, and `upgrade-relay campaigns resume ID` probes at once"
        case "pause":
            "make sure that no other program signs with this key all the time. It ends by itself, and `upgrade-relay campaigns "
                + "resume ID` tries at once, with the token that there is"
        case "stopped":
            "do what the reason says; the app's other push service goes on. `upgrade-relay campaigns resume ID` tries it again"
        case "environment":
            "look at apns.server and apns.sandboxServer; if the devices are registered wrongly, import them with the column "
                + "environment"
        case "certificate":
            "make a new certificate at developer.apple.com, put it at apns.certificate with its key, and reload"
        case "node":
            "look at the database and at the way to it; `upgrade-relay nodes` shows the campaigns of each relay. It goes on by itself when the database "
                + "confirms the lease"
        case "claims":
            "give every relay the app's push service, and reload; `upgrade-relay nodes` says which ones live and whose configuration "
                + "differs. `upgrade-relay campaigns pause ID` ends the warning until then"
        case "relays":
            "start again the one that is missing, or another one in its place; give all of them the same apps, notify, webhooks and enforce, "
                + "and reload; `upgrade-relay nodes` shows which one is missing or differs"
        case "configuration":
            "correct the file, `upgrade-relay check-config`, then `systemctl reload upgrade-relay`; until then the configuration of "
                + "before is in use"
        case "source":
            "do what the reason says; no version changes because of it, and it is asked again by itself"
        case "listen":
            "do what the reason says; a certificate needs a restart, `tls: null` a reload"
        case "version":
            "do what the reason says; `upgrade-relay version show APP` says more, and `upgrade-relay version set` asks for a version "
                + "with other texts"
        default: "look at the log"
        }
    }

    /// A text of each provider that is meant, for a fault that does not say whose it is.
    private static func anyProvider(
        _ text: (ProviderName) -> String, or separator: String = " or ",
        where isMeant: (ProviderName) -> Bool = { _ in true }
    ) -> String {
        let texts = ProviderName.allCases.filter(isMeant).map(text)
        return (texts.count > 1 ? texts.dropLast().joined(separator: ", ") + separator : "") + (texts.last ?? "")
    }
}

extension ProviderName {
    fileprivate var proxyKey: String { "\(rawValue).proxy" }
    fileprivate var quotaKey: String { "\(rawValue).quotaPerMinute" }
}

extension ReadinessFault {
    static let shape = Shape<ReadinessFault>(
        "ReadinessFault", "One fault that stops the daemon's work, or a part of it.",
        [
            .member(
                .part, .text,
                "Such as \"store\", \(Platform.allCases.map(connectionExample).joined(separator: ", ")), \"outage:…\"."
            ) { $0.part },
            .member(.reason, .text, "The fault, and its end where it ends by itself.") { $0.reason },
            .member(.remedy, .text, "The remedy for an operator.") { $0.remedy },
        ])

    private static func connectionExample(on platform: Platform) -> String {
        "\"\(ProviderName.own(of: platform).rawValue):com.example.app" + (platform == .android ? "/android\"" : "\"")
    }
}
