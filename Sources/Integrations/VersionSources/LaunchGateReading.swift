// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
import WireFormat

/// The versions in a LaunchGate file (SEEDS S5), read as strictly as the phones read it: a file that they would drop must not
/// raise a version here either.
package struct LaunchGateReading: Hashable, Sendable {
    /// `requiredUpdate.minimumVersion`.
    package var required: Version?
    /// `requiredUpdate.message`.
    package var message: String?
    /// `optionalUpdate.optionalVersion`.
    package var latest: Version?

    /// The most bytes of a file.
    package static let maximumSize = 256 << 10
}

extension LaunchGateReading {
    package init(_ bytes: [UInt8]) throws(SourceFault) {
        let document = try AppStoreAnswer.json(bytes)
        guard case .object = document else { throw SourceFault("the file is not a JSON object") }
        guard let ios = document.find(["ios"]), case .object = ios else {
            throw SourceFault("the file has no object \"ios\", which LaunchGate must have")
        }
        self.init()
        if let (version, message) = try Self.update(ios, "requiredUpdate", "minimumVersion") {
            required = version
            self.message = message
        }
        if let (version, _) = try Self.update(ios, "optionalUpdate", "optionalVersion") { latest = version }
        if let alert = try Self.object(ios, "alert") {
            _ = try Self.string(alert, "alert", "message")
            guard case .bool? = alert.find(["blocking"]) else {
                throw SourceFault(
                    "ios.alert.blocking: true or false is needed; LaunchGate drops the whole file without it")
            }
        }
        // In the store "a `required` above `latest` is no error"; within one file the older `latest` is dropped.
        if let required, let latest, latest < required { self.latest = nil }
    }

    /// nil where the object is absent, or has an empty field: LaunchGate drops only that object then.
    private static func update(
        _ ios: JSONValue, _ name: String, _ field: String
    ) throws(SourceFault) -> (Version, String)? {
        guard let object = try object(ios, name) else { return nil }
        let text = try string(object, name, field)
        let message = try string(object, name, "message")
        guard !text.isEmpty, !message.isEmpty else { return nil }
        if let fault = PlainText.fault(in: message, lines: true) { throw SourceFault("ios.\(name).message: \(fault)") }
        do throws(VersionError) {
            return (try Version(text), message)
        } catch {
            throw SourceFault("ios.\(name).\(field): \(error)")
        }
    }

    private static func object(_ ios: JSONValue, _ name: String) throws(SourceFault) -> JSONValue? {
        guard let object = ios.find([name]) else { return nil }
        if case .object = object { return object }
        throw SourceFault("ios.\(name): an object is needed; got \(object.sight)")
    }

    private static func string(_ object: JSONValue, _ name: String, _ field: String) throws(SourceFault) -> String {
        guard let value = object.find([field]) else {
            throw SourceFault("ios.\(name).\(field) is missing; LaunchGate drops the whole file without it")
        }
        guard case .string(let text) = value else {
            throw SourceFault("ios.\(name).\(field): a string is needed; got \(value.sight)")
        }
        return text
    }
}
