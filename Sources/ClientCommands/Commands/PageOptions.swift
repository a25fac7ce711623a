// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import WireFormat

/// One page of a list.
enum PageOptions {
    static let specs: [OptionSpec] = [
        .value("limit", "N", "entries at most", default: "50"),
        .value("cursor", "CURSOR", "where the page before ended"),
    ]

    static func query(_ arguments: ParsedArguments) throws(UsageError) -> [(String, String?)] {
        let limit = try arguments.integer("limit", in: 1...1000, default: 50)
        return [("limit", String(limit)), ("cursor", arguments.value("cursor"))]
    }

    /// That there is another page, for standard error.
    @Sendable static func next(_ answer: JSONValue) -> String? {
        answer[.next]?.string.map { "there is more: --cursor \(DisplayWidth.sanitised($0))\n" }
    }
}
