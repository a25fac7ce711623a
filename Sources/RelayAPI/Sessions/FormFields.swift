// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// What a form sends (WHATWG URL, section 5.1).
package struct FormFields: Sendable {
    private let items: [RequestTarget.QueryItem]

    /// - Throws: a 400 where something does not decode to UTF-8.
    package init(_ body: [UInt8]) throws {
        guard let text = String(validating: body, as: UTF8.self), let target = RequestTarget("/?\(text)") else {
            throw ProblemDetails(400, "the body is not that of a form in percent-encoded UTF-8")
        }
        items = target.query
    }

    /// Without the white space around it; nil where it is not there, or empty: a form sends every field that it has.
    package subscript(name: String) -> String? {
        guard let value = items.last(where: { $0.name == name })?.value else { return nil }
        let text = value.drop { $0.isWhitespace }
        guard let end = text.lastIndex(where: { !$0.isWhitespace }) else { return nil }
        return String(text[...end])
    }
}
