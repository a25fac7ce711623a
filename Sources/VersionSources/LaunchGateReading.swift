// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
import WireFormat

/// What a LaunchGate file says of versions (SEEDS S5), read as strictly as the phones read it: a file that they would drop
/// must not raise anything here either.
package struct LaunchGateReading: Hashable, Sendable {
    /// `requiredUpdate.minimumVersion`.
    package var required: Version?
    /// `requiredUpdate.message`.
    package var message: String?
    /// `optionalUpdate.optionalVersion`.
    package var latest: Version?

    package init(required: Version? = nil, message: String? = nil, latest: Version? = nil) {
        self.required = required
        self.message = message
        self.latest = latest
    }

    /// The most bytes of a file.
    package static let maximumSize = 256 << 10

    package init(_ bytes: [UInt8]) throws(SourceFault) {
        guard case .object(let document) = try AppStoreAnswer.json(bytes) else {
            throw SourceFault("the file is not a JSON object")
        }
        guard case .object(let ios)? = document.value("ios") else {
            throw SourceFault("the file has no object \"ios\", which LaunchGate must have")
        }
        if let (version, message) = try Self.update(ios, "requiredUpdate", "minimumVersion") {
            required = version
            self.message = message
        }
        if let (version, _) = try Self.update(ios, "optionalUpdate", "optionalVersion") { latest = version }
        if let alert = try Self.object(ios, "alert") {
            _ = try Self.string(alert, "alert", "message")
            guard case .bool? = alert.value("blocking") else {
                throw SourceFault(
                    "ios.alert.blocking: true or false is needed; LaunchGate drops the whole file without it")
            }
        }
        // "A `required` above `latest` is no error" in the store; here the file itself says which is newer.
        if let required, let latest, latest < required { self.latest = nil }
    }

    /// nil where the object is absent, or has an empty field: LaunchGate drops that object and nothing else.
    private static func update(
        _ ios: [JSONMember], _ name: String, _ field: String
    ) throws(SourceFault) -> (Version, String)? {
        guard let object = try object(ios, name) else { return nil }
        let text = try string(object, name, field)
        let message = try string(object, name, "message")
        guard !text.isEmpty, !message.isEmpty else { return nil }
        do throws(VersionError) {
            return (try Version(text), message)
        } catch {
            throw SourceFault("ios.\(name).\(field): \(error)")
        }
    }

    private static func object(_ ios: [JSONMember], _ name: String) throws(SourceFault) -> [JSONMember]? {
        switch ios.value(name) {
        case nil, .null?: return nil
        case .object(let members)?: return members
        case let other?: throw SourceFault("ios.\(name): an object is needed; it was \(other.sight)")
        }
    }

    private static func string(
        _ object: [JSONMember], _ name: String, _ field: String
    ) throws(SourceFault) -> String {
        guard let value = object.value(field) else {
            throw SourceFault("ios.\(name).\(field) is missing; LaunchGate drops the whole file without it")
        }
        guard case .string(let text) = value else {
            throw SourceFault("ios.\(name).\(field): a string is needed; it was \(value.sight)")
        }
        return text
    }
}
