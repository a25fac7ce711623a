// SPDX-License-Identifier: Apache-2.0

/// The rules of the two clients that read a `LaunchGateDocument` (SEEDS S5). Each compares in its own way, and neither
/// compares versions number by number.
public enum LaunchGateClient: Hashable, Sendable, CaseIterable {
    /// iOS. Compares version texts lexically, with Swift's `String <`: "1.10" is below "1.9", "2.0" below "2.0.0".
    case launchGate
    /// Android. Compares integers with the app's version code; "7.0.3" throws, and the whole file is ignored.
    case gandalf

    /// Whether the client judges an installed version as older than a published one.
    ///
    /// - Parameters:
    ///   - installed: LaunchGate: CFBundleShortVersionString. Gandalf: the version code, in digits.
    ///   - published: `minimumVersion` or `optionalVersion`.
    /// - Returns: nil where Gandalf throws, because one of the two is no 32-bit integer.
    public func isBelow(_ installed: String, _ published: String) -> Bool? {
        switch self {
        case .launchGate:
            return installed < published
        case .gandalf:
            // java.lang.Integer.valueOf takes an optional sign and decimal digits, as Int32.init does.
            guard let installed = Int32(installed), let published = Int32(published) else { return nil }
            return installed < published
        }
    }

    /// A client's prompt at launch.
    public enum Prompt: Hashable, Sendable {
        case none
        /// One button, at every launch.
        case required(message: String)
        case optional(message: String)
        case alert(message: String, blocking: Bool)
    }

    /// The prompt of a client that has this version installed and has shown nothing before.
    ///
    /// - Parameter section: nil: the file cannot be used, and the client goes on as if there were none.
    public func prompt(_ section: LaunchGateDocument.Section?, installed: String) -> Prompt {
        guard let section else { return .none }
        // An empty version or message drops the object that holds it.
        let required = section.required.flatMap { $0.minimumVersion.isEmpty || $0.message.isEmpty ? nil : $0 }
        let optional = section.optional.flatMap { $0.optionalVersion.isEmpty || $0.message.isEmpty ? nil : $0 }
        let alert = section.alert.flatMap {
            $0.message.isEmpty ? nil : Prompt.alert(message: $0.message, blocking: $0.blocking)
        }
        switch self {
        case .launchGate:
            // An if-else chain that tests presence, not need: the first object that is present decides alone.
            if let required {
                return isBelow(installed, required.minimumVersion) == true
                    ? .required(message: required.message) : .none
            }
            if let optional {
                return isBelow(installed, optional.optionalVersion) == true
                    ? .optional(message: optional.message) : .none
            }
            return alert ?? .none
        case .gandalf:
            if let required {
                guard let isBelow = isBelow(installed, required.minimumVersion) else { return .none }
                if isBelow { return .required(message: required.message) }
            }
            if let alert { return alert }
            guard let optional, isBelow(installed, optional.optionalVersion) == true else { return .none }
            return .optional(message: optional.message)
        }
    }
}
