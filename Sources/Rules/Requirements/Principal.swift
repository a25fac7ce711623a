// SPDX-License-Identifier: Apache-2.0

/// The actor of a change, with the way and the address it came by, as histories, the log and the audit trail record them.
package struct Principal: Hashable, Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An API token.
        case token
        /// A user of the control socket.
        case `operator`
        /// A browser that is signed in.
        case session
        case webhook
        /// A watched file or URL, or a store's lookup.
        case source
        /// Another program, which wrote to the database.
        case database
        /// The relay itself.
        case relay

        /// Whether this is a person, who can be asked whether the act was meant.
        package var isPerson: Bool { self == .token || self == .operator || self == .session }
    }

    /// A token's name, a user of the control socket ("alice (uid 1000)"), a person whom a proxy signed in ("proxy:alice"), a
    /// webhook's secret, a source.
    package var name: String
    package var kind: Kind
    /// The way that the change came, as histories name it: "api", "cli", "webhook", a release tool, a source.
    package var via: String
    /// Where a request came from: an IP address, or `controlSocket`; nil: it came from within the relay.
    package var address: String?
    /// The facts that were shown and confirmed; nil: the act applies to the present facts, whatever they are.
    package var confirmed: Confirmed?
    /// Why it acts alone where the app wants a second person; nil: it does not.
    package var alone: String?

    package init(_ name: String, _ kind: Kind, via: String, from address: String? = nil) {
        self.name = name
        self.kind = kind
        self.via = via
        self.address = address
    }

    /// The same principal with this confirmation, in place of any before. Without shown facts, nothing changes.
    ///
    /// - Parameter campaign: the campaign that was shown; nil: the act's own subject.
    package func confirming(_ shown: Shown, of campaign: CampaignKey? = nil) -> Principal {
        guard !shown.facts.isEmpty else { return self }
        var principal = self
        principal.confirmed = Confirmed(shown, of: campaign)
        return principal
    }

    /// The same principal without a confirmation, for the consequences of an act that was judged.
    package var unconfirming: Principal {
        var principal = self
        principal.confirmed = nil
        return principal
    }

    package static let controlSocket = "control socket"

    package static let relay = Principal("relay", .relay, via: "relay")

    /// The name of a program that gives none.
    package static let nameless = "unknown"

    /// Another program, which wrote to the database.
    ///
    /// - Parameter name: the program's own name in `changed_by`; `nameless` where it gives none.
    package static func database(_ name: String) -> Principal { Principal(name, .database, via: "database") }

    /// The sender of a signal to the process, whose name is unknown.
    package static let signal = Principal("signal", .operator, via: "signal")

    package static func source(_ name: String) -> Principal { Principal(name, .source, via: name) }

    package static func `operator`(_ name: String) -> Principal {
        Principal(name, .operator, via: "cli", from: controlSocket)
    }
}
