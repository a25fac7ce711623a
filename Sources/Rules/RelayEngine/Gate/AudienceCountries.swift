// SPDX-License-Identifier: Apache-2.0

/// The countries of an app's devices, as far as the devices have reported them.
package struct AudienceCountries: Hashable, Sendable {
    /// Two upper-case letters each (ISO 3166-1 alpha-2).
    package var known: Set<String>
    /// Whether there are devices that have not reported one.
    package var hasUnknown: Bool

    package init(known: Set<String> = [], hasUnknown: Bool = false) {
        self.known = known
        self.hasUnknown = hasUnknown
    }

    /// Names the users who are, or may be, outside these countries; nil: there are none. The login check also reaches users
    /// who have no device here: where no device is registered, nothing is known of any user.
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
