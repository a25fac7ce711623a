// SPDX-License-Identifier: Apache-2.0

/// Where the devices of an app are, as far as they have told.
package struct AudienceCountries: Hashable, Sendable {
    /// Two upper-case letters each (ISO 3166-1 alpha-2).
    package var known: Set<String>
    /// Whether there are devices that have not told.
    package var hasUnknown: Bool

    package init(known: Set<String> = [], hasUnknown: Bool = false) {
        self.known = known
        self.hasUnknown = hasUnknown
    }

    /// Who is, or may be, elsewhere than in these countries; nil: nobody. The login check is for who has no device here, too: where none is
    /// registered, nothing is known of anybody.
    func others(than countries: [String]) -> String? {
        if known.isEmpty, !hasUnknown { return "users of whom no device is registered" }
        let elsewhere = known.subtracting(countries).sorted()
        if elsewhere.isEmpty { return hasUnknown ? "devices whose country is not known" : nil }
        return "devices in \(Self.list(elsewhere))" + (hasUnknown ? ", and some whose country is not known" : "")
    }

    /// At most ten of them by name.
    static func list(_ countries: [String]) -> String {
        let more = countries.count - 10
        return countries.prefix(10).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}
