// SPDX-License-Identifier: Apache-2.0
package import Terminal
import WireFormat

/// A refusal by the API (RFC 9457, problem+json), as text for a person.
package struct Problem: Sendable {
    private let status: Int
    private let title: String
    private let detail: String?
    /// "field: reason", or the reason alone where the entry names no field.
    private let faults: [String]
    /// The body's JSON; nil where it is not an object.
    private let json: String?

    package init(_ answer: APIAnswer) {
        status = answer.status
        let json = (try? JSONReader.read(answer.body)) ?? .null
        self.json = json.object == nil ? nil : json.text()
        title = json[.title]?.string ?? "the daemon answered \(answer.status)"
        detail = json[.detail]?.string
        faults = json.list(.errors).compactMap { entry in
            guard let reason = entry[.reason]?.string else { return nil }
            guard let field = entry[.field]?.string, !field.isEmpty else { return reason }
            return "\(field): \(reason)"
        }
    }

    /// "title: detail", then each fault on a line of its own. A detail that only repeats the faults is left out.
    package var message: String {
        let isTwice = !faults.isEmpty && detail == faults.joined(separator: "; ")
        if isTwice, faults.count == 1 { return DisplayWidth.indented("\(title): \(faults[0])") }
        let first = isTwice ? title : detail.map { "\(title): \($0)" } ?? title
        return ([first] + faults.map { "  \($0)" }).map { DisplayWidth.indented($0) }.joined(separator: "\n")
    }

    package var failure: CommandFailure {
        let hint: String? =
            switch status {
            case 401: "give a valid --token, or use the control socket on the relay's own machine"
            case 403 where detail?.hasPrefix("the control socket") == true: SocketAccess.ways
            case 403 where detail?.hasPrefix(ActedFor.rootAlone) == true: nil
            case 403: "the token lacks the right; \"upgrade-relay tokens list\" shows what each may do"
            default: nil
            }
        return CommandFailure(.failed, message, hint: hint, problem: json)
    }
}
