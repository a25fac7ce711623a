// SPDX-License-Identifier: Apache-2.0
@testable import HTTPServer

extension FuzzTarget {
    /// Requests out of bytes: the same however they arrive, and nothing in a head that could mean two things.
    static let http = FuzzTarget("http") { bytes in
        let rules = RequestRules(target: 256, head: 1024, handed: ["authorization", "if-none-match"])
        let whole = try events(bytes, rules, piece: max(bytes.count, 1))
        for piece in [1, 3] {
            let parts = try events(bytes, rules, piece: piece)
            try hold(parts == whole, "in pieces of \(piece): \(parts), and not \(whole)")
        }
    }

    /// Each request's head and body, and how it ended.
    private static func events(_ bytes: [UInt8], _ rules: RequestRules, piece: Int) throws -> [String] {
        var reader = RequestReader(rules)
        var (rest, events, body): (Range<Int>, [String], [UInt8]) = (0..<0, [], [])
        while true {
            switch reader.next(bytes, &rest) {
            case .more:
                guard rest.upperBound < bytes.count else { return events + ["\(reader.isInRequest)"] }
                rest = rest.lowerBound..<min(rest.upperBound + piece, bytes.count)
            case .head(let head):
                try hold(head.target.hasPrefix("/") || head.target == "*", "a target \(head.target)")
                try hold(head.target.utf8.count <= rules.target + 1, "a long target")
                for text in [head.method, head.target] {
                    try hold(text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, "a control in \(text)")
                }
                for (name, value) in head.headers.byName {
                    try hold(value.utf8.allSatisfy(HeadBuilder.isText), "a control in \(name)")
                }
                events.append(
                    "\(head.method) \(head.target) \(head.body) \(head.headers.byName.count) \(head.keepsAlive)")
                body = []
            case .body(let range):
                try hold(!range.isEmpty && range.upperBound <= rest.lowerBound, "a body out of its place")
                body.append(contentsOf: bytes[range])
            case .end: events.append("body of \(body)")
            case .refused(let refusal): return events + [refusal.detail]
            }
        }
    }
}
