// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import WireFormat

/// The fields of a form (WHATWG URL, section 5.1).
package struct FormFields: Sendable {
    private let items: [RequestTarget.QueryItem]

    /// A form without fields.
    package static let empty = FormFields()

    private init() { items = [] }

    /// - Throws: a 400 where something does not decode to UTF-8.
    package init(_ body: [UInt8]) throws {
        let malformed = ProblemDetails(400, "the body is not that of a form in percent-encoded UTF-8")
        guard let text = String(validating: body, as: UTF8.self) else { throw malformed }
        do throws(RequestTarget.Fault) {
            items = try RequestTarget("/?\(text)").query
        } catch {
            switch error {
            case .malformed, .tooManySegments: throw malformed
            case .tooManyParameters:
                throw ProblemDetails(
                    400, "the form has more than the \(ListBound.formFields.limit) fields that are taken")
            }
        }
    }

    /// A field's value without white space around it; nil where it is missing or empty: a form sends its empty fields, too.
    package subscript(name: String) -> String? {
        guard let value = items.last(where: { $0.name == name })?.value else { return nil }
        let text = value.drop { $0.isWhitespace }
        guard let end = text.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return String(text[...end])
    }

    /// A field's value byte for byte, as hidden fields are compared with the facts that were shown; nil where it is missing.
    package func exact(_ name: String) -> String? { items.last { $0.name == name }?.value }
}
