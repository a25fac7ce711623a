// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// The rules of a field whose value is a text. They are functions, not a protocol, so that a row of the table holds them.
package struct DeviceText: Sendable {
    /// Whether bytes of printable ASCII are a value in the form in which it is stored.
    package let isPlain: @Sendable ([UInt8], Range<Int>) -> Bool
    /// Reads the value of a body's member in the form in which it is stored; nil where it is missing or refused.
    ///
    /// - Parameters:
    ///   - name: the name of the member.
    ///   - isRecord: whether it comes out of an import.
    package let read: @Sendable (_ fields: inout BodyFields, _ name: String, _ isRecord: Bool) -> String?
    /// The reason why a value is unlikely to be intended, though it has the right form.
    package let doubt: @Sendable (ArraySlice<UInt8>) -> ValueDoubt?
}

extension DeviceText {
    package static let telephone = DeviceText(
        // Characters are bytes here.
        isPlain: { (1...BodyFields.maximumTelephone).contains($1.count) },
        read: { $0.telephone($1, isRecord: $2) }, doubt: { .telephone($0) })
    package static let version = DeviceText(
        isPlain: { Version.isOlder($0, $1, than: .zero) != nil },
        read: { fields, name, _ in fields.version(name)?.text }, doubt: { .version($0) })
    package static let system = DeviceText(
        isPlain: version.isPlain, read: version.read, doubt: { .system($0) })
}
