// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules
import WireFormat

/// The meaning of a release tool's event.
package enum ReleaseVerdict: Hashable, Sendable {
    /// This version is out.
    case version(Version)
    /// This version is out, as a later event of the release reports: the first one was ignored, or has announced it
    /// already. If a person has withdrawn the version since, that stands.
    case outByNow(Version)
    /// Some version is out; the App Store's lookup knows which.
    case askTheStore
    /// Nothing that this relay acts on, with the reason.
    case ignored(String)
    /// The tool tests whether the relay answers.
    case ping
}

/// Reads single members of an event. Unlike the relay's own bodies, an event has fields that the relay does not know, and will
/// get more.
struct EventBody {
    private let value: JSONValue

    /// - Throws: `BodyError` when the body is not one JSON object.
    init(_ bytes: [UInt8]) throws(BodyError) {
        do throws(JSONSyntaxError) {
            value = try JSONReader.read(bytes, within: .jsonValues)
        } catch {
            // GitHub's default content type is a form, whose field always has this name.
            if bytes.starts(with: Array("payload=".utf8)) {
                throw .fields([
                    FieldFault("body", "JSON is needed; set the webhook's content type to application/json")
                ])
            }
            throw .notJSON(error)
        }
        guard case .object = value else {
            throw .fields([FieldFault("body", "an object is needed; got \(value.sight)")])
        }
    }

    /// The value at a path of names; nil where there is none or it is null.
    func find(_ path: String...) -> JSONValue? { value.find(path) }

    /// - Throws: `BodyError` with the field's path where there is no string.
    func text(_ path: String...) throws(BodyError) -> String {
        guard case .string(let text)? = value.find(path) else { throw fault(path, "a string") }
        // A query to the store with such a text would fail.
        guard !text.utf8.contains(0) else { throw fault(path, "a string without the character U+0000") }
        return text
    }

    func bool(_ path: String...) throws(BodyError) -> Bool {
        if case .bool(let value)? = value.find(path) { return value }
        throw fault(path, "true or false")
    }

    private func fault(_ path: [String], _ need: String) -> BodyError {
        let reason =
            value.find(path).map { "\(need) is needed; got \($0.sight)" } ?? "is missing; \(need) is needed"
        return .fields([FieldFault(path.joined(separator: "."), reason)])
    }
}
