// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import WireFormat

/// The protocol between a browser and the proxies before the relay: the one place that reads their headers about it.
enum ForwardedProtocol {
    /// Whether the browser used TLS. A list has a member for each proxy; the first one is about the browser's own
    /// connection (RFC 7239, section 4).
    static func isTLS(_ head: RequestHead) -> Bool {
        if let protocols = head.headers["x-forwarded-proto"] {
            return first(of: protocols).map { $0.lowercased() == "https" } ?? false
        }
        guard let hop = head.headers["forwarded"].flatMap(first) else { return false }
        return hop.split(separator: ";", maxSplits: 8).contains { pair in
            let text = pair.lowercased().filter { !" \t\"".contains($0) }
            return text == "proto=https"
        }
    }

    /// Empty members do not count (RFC 9110, section 5.6.1).
    private static func first(of list: String) -> Substring? {
        let member = ListBound.forwardedHops.members(of: String(list.drop { ", \t".contains($0) })).first
        guard let member, member.utf8.count <= ListBound.longestMember else { return nil }
        let end = member.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { member[...$0] }
    }
}
