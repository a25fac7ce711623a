// SPDX-License-Identifier: Apache-2.0
import Terminal

/// One page of a list.
struct PageOptions: Sendable {
    static let specs: [OptionSpec] = [
        .value("limit", "N", "entries at most", default: "50"),
        .value("cursor", "CURSOR", "where the page before ended"),
    ]

    let query: [(String, String?)]

    init(_ arguments: ParsedArguments) throws {
        let limit = try arguments.integer("limit", in: 1...1000, default: 50)
        query = [("limit", String(limit)), ("cursor", arguments.value("cursor"))]
    }

    func announceNext(_ reply: RelayClient.Reply, _ console: Console) {
        guard let next = reply.next else { return }
        console.writeError("there is more: --cursor \(DisplayWidth.sanitised(next))\n")
    }
}
