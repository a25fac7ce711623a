// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
package import Terminal

/// A refusal of the API (RFC 9457, problem+json) as a person should read it.
package struct Problem: Sendable, Equatable {
    package var status: Int
    package var title: String
    package var detail: String?
    package var fields: [(field: String, reason: String)] = []

    package init(_ answer: APIAnswer) {
        status = answer.status
        let tree = try? JSONDecoder().decode(JSONTree.self, from: Data(answer.body))
        title = tree?["title"]?.string ?? "the daemon answered \(answer.status)"
        detail = tree?["detail"]?.string
        fields = (tree?["errors"]?.array ?? []).compactMap { entry in
            entry["reason"]?.string.map { (entry["field"]?.string ?? "", $0) }
        }
    }

    /// "title: detail", then each field on a line of its own, unless the detail has said the same already.
    package var message: String {
        let told = fields.map { $0.field.isEmpty ? $0.reason : "\($0.field): \($0.reason)" }
        let isTwice = !fields.isEmpty && detail == told.joined(separator: "; ")
        if isTwice, fields.count == 1 { return DisplayWidth.sanitised("\(title): \(told.joined())") }
        var text = DisplayWidth.sanitised(isTwice ? title : detail.map { "\(title): \($0)" } ?? title)
        for line in told { text += "\n  " + DisplayWidth.sanitised(line) }
        return text
    }

    package var failure: CommandFailure {
        let hint: String? =
            switch status {
            case 401: "give a valid --token, or use the control socket on the relay's own machine"
            case 403 where detail?.hasPrefix("the control socket") == true: "try with sudo, or as the daemon's user"
            case 403: "the token lacks the right; \"upgrade-relay tokens list\" shows what each may do"
            default: nil
            }
        return CommandFailure(.failed, message, hint: hint)
    }

    package static func == (left: Problem, right: Problem) -> Bool {
        left.status == right.status && left.message == right.message
    }
}
