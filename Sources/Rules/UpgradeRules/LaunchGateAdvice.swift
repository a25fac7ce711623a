// SPDX-License-Identifier: Apache-2.0

/// The section of a `LaunchGateDocument` that makes the existing clients behave as required (SEEDS S5), and warnings for a person.
///
/// LaunchGate (iOS) compares texts, and the first object that is present decides alone. Therefore:
/// - the published minimum, compared as text, is never above a version that meets the requirement: the required one, the
///   latest, or any that was seen. It is better that an older version passes (it is still notified at login and pushed) than
///   that a user is locked out who has nothing to upgrade to;
/// - a blocking alert is published alone, as LaunchGate would not show it behind another object;
/// - an optional update or an alert is only reached without `requiredUpdate`, so `requiredUpdate` is left out while every
///   device is known to meet the requirement and another object must be shown; an alert then replaces an optional update.
///
/// Gandalf (Android) compares version codes and goes on to the next object, so all are published; an object without a known code
/// is left out, because a text that is no integer makes Gandalf ignore the whole file.
public struct LaunchGateAdvice: Hashable, Sendable {
    /// The section to publish.
    public private(set) var section: LaunchGateDocument.Section
    /// Sentences for the person who raises a version; empty when the clients do exactly as required.
    public private(set) var warnings: [String] = []

    /// The known facts of an app on one platform.
    public struct Facts: Hashable, Sendable {
        /// The oldest version that users may keep.
        public var required: Version?
        /// The newest version.
        public var latest: Version?
        /// Android's version code of `required`.
        public var requiredBuild: Int64?
        /// Android's version code of `latest`.
        public var latestBuild: Int64?
        /// The message of a required and an optional update; nil for default words.
        public var message: String?
        /// The message of an optional update instead of `message`; empty for default words.
        public var optionalMessage: String?
        /// The message of a required update that has no `message`; nil for default words.
        public var requiredMessage: String?
        /// The present alert for everyone.
        public var alert: LaunchGateDocument.Alert?
        /// Versions that devices were last seen with.
        public var seen: SeenVersions

        /// Every fact is unknown unless it is given.
        public init(
            required: Version? = nil, latest: Version? = nil, requiredBuild: Int64? = nil, latestBuild: Int64? = nil,
            message: String? = nil, optionalMessage: String? = nil, requiredMessage: String? = nil,
            alert: LaunchGateDocument.Alert? = nil, seen: SeenVersions = SeenVersions()
        ) {
            self.required = required
            self.latest = latest
            self.requiredBuild = requiredBuild
            self.latestBuild = latestBuild
            self.message = message
            self.optionalMessage = optionalMessage
            self.requiredMessage = requiredMessage
            self.alert = alert
            self.seen = seen
        }
    }

    /// Decides the section of one platform.
    public init(_ platform: Platform, _ facts: Facts) {
        section = LaunchGateDocument.Section(alert: facts.alert)
        switch platform {
        case .ios: adviseLaunchGate(facts)
        case .android: adviseGandalf(facts)
        }
    }

    // MARK: iOS

    private mutating func adviseLaunchGate(_ facts: Facts) {
        if let latest = facts.latest, facts.required.map({ $0 < latest }) ?? true {
            section.optional = .init(
                optionalVersion: Self.threshold(latest, facts), message: Self.optionalMessage(facts, latest))
        }
        if let required = facts.required {
            let minimum = Self.threshold(required, facts)
            section.required = .init(minimumVersion: minimum, message: Self.requiredMessage(facts))
            warn(required, published: minimum, facts)
            let seen = facts.seen
            let nobodyIsBelow =
                !seen.isEmpty && seen.unknown == 0 && seen.versions.allSatisfy { $0.version >= required }
            if nobodyIsBelow, section.optional != nil || section.alert != nil { section.required = nil }
        }
        guard let alert = section.alert else { return }
        if alert.blocking {
            section = LaunchGateDocument.Section(alert: alert)
        } else if section.required == nil {
            section.optional = nil
        } else {
            warnings.append(
                "LaunchGate stops at requiredUpdate: users that are current see the alert only when no device below "
                    + "\(section.required?.minimumVersion ?? "it") is left")
        }
    }

    /// The least text among the versions that must pass: a text below it is below all of them.
    private static func threshold(_ version: Version, _ facts: Facts) -> String {
        var passing = facts.seen.versions.map(\.version).filter { $0 >= version }
        if let latest = facts.latest, latest >= version { passing.append(latest) }
        return passing.map(\.text).reduce(version.text, min)
    }

    private mutating func warn(_ required: Version, published: String, _ facts: Facts) {
        var known = facts.seen
        if let latest = facts.latest, !known.versions.contains(where: { $0.version.text == latest.text }) {
            known.versions.append(SeenVersion(version: latest, devices: 0))
        }
        let plain = LockOutReport(required: required, published: required.text, seen: known)
        if !plain.lockedOut.isEmpty {
            warnings.append(
                "LaunchGate compares versions as texts: a minimum of \(required) would lock out "
                    + "\(Self.list(plain.lockedOut)), although newer; its document says \(published) instead")
        }
        let letPass = LockOutReport(required: required, published: published, seen: known).letPass
        if !letPass.isEmpty {
            warnings.append(
                "LaunchGate compares versions as texts: a minimum of \(published) lets \(Self.list(letPass)) pass, "
                    + "although older than \(required); these devices are notified at login and by push only")
        }
    }

    /// Ten versions at most, those with the most devices first.
    private static func list(_ versions: [SeenVersion]) -> String {
        let sorted = versions.sorted { ($0.devices, $1.version) > ($1.devices, $0.version) }
        var parts = sorted.prefix(10).map { seen in
            seen.devices == 0
                ? "\(seen.version) (the latest)"
                : "\(seen.version) (\(Counted.text(seen.devices, "device")))"
        }
        if versions.count > 10 { parts.append("\(versions.count - 10) other versions") }
        return parts.joined(separator: ", ")
    }

    // MARK: Android

    private mutating func adviseGandalf(_ facts: Facts) {
        let codesAreVersions = Self.versionsAreCodes(facts)
        func code(_ build: Int64?, _ version: Version?) -> Int32? {
            if let build { return Int32(exactly: build) }
            guard codesAreVersions, let version else { return nil }
            return Int32(version.canonical)
        }
        let required = code(facts.requiredBuild, facts.required)
        let latest = code(facts.latestBuild, facts.latest)
        if let required {
            section.required = .init(minimumVersion: String(required), message: Self.requiredMessage(facts))
        } else if let version = facts.required {
            warnings.append(
                "Gandalf compares version codes and none is known for \(version): the launch document requires nothing, and "
                    + "apps that ask it alone are not forced; send builds.required (on the command line: --required-build)"
            )
        }
        if let latest, required.map({ $0 < latest }) ?? true {
            section.optional = .init(
                optionalVersion: String(latest),
                message: Self.optionalMessage(facts, facts.latest))
        }
    }

    /// Whether this app's versions are version codes themselves: every known version is a single integer, and no code is
    /// given beside a version. "2.0" is a name, and taking its 2 for a code would lock out no user, or every user.
    private static func versionsAreCodes(_ facts: Facts) -> Bool {
        guard facts.requiredBuild == nil, facts.latestBuild == nil else { return false }
        let versions = facts.seen.versions.map(\.version) + [facts.required, facts.latest].compactMap(\.self)
        return versions.allSatisfy { !$0.text.utf8.contains(UInt8(ascii: ".")) }
    }

    // MARK: Words

    private static let requiredWords = "A new version is required."

    private static func requiredMessage(_ facts: Facts) -> String {
        nonEmpty(facts.message) ?? nonEmpty(facts.requiredMessage) ?? requiredWords
    }

    private static func optionalMessage(_ facts: Facts, _ latest: Version?) -> String {
        nonEmpty(facts.optionalMessage ?? facts.message) ?? latest.map { "Version \($0) is available." }
            ?? "A new version is available."
    }

    private static func nonEmpty(_ text: String?) -> String? {
        text.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The seen versions that LaunchGate's lexical comparison misjudges, measured by the comparison as numbers.
public struct LockOutReport: Hashable, Sendable {
    /// Versions that meet the requirement but would count as too old: their users could not go on and have nothing to upgrade to.
    public var lockedOut: [SeenVersion] = []
    /// Versions that do not meet the requirement but would pass.
    public var letPass: [SeenVersion] = []

    /// Compares LaunchGate's judgement by `published` with the meaning of `required`.
    ///
    /// - Parameter published: the text in `minimumVersion`, which may be spelled differently from `required`.
    public init(required: Version, published: String, seen: SeenVersions) {
        for seen in seen.versions {
            let isBelow = LaunchGateClient.launchGate.isBelow(seen.version.text, published) ?? false
            if isBelow, seen.version >= required { lockedOut.append(seen) }
            if !isBelow, seen.version < required { letPass.append(seen) }
        }
    }
}
