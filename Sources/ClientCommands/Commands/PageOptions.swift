// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// One page of a list.
enum PageOptions {
    /// The API's own bound.
    private static let most = 1000

    static func query(_ arguments: ParsedArguments) throws(UsageError) -> [(String, String?)] {
        let limit = try arguments.integer("limit", in: 1...most, default: 50)
        return [("limit", String(limit)), ("cursor", arguments.value("cursor"))]
    }

    /// That there is another page, for standard error.
    @Sendable static func next(_ answer: JSONValue) -> String? {
        answer[.next]?.string.map { "there is more: --cursor \(DisplayWidth.sanitised($0))\n" }
    }
}
