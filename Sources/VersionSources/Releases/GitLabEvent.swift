// SPDX-License-Identifier: Apache-2.0
package import WireFormat

/// GitLab's release events (docs.gitlab.com, "Webhook events", "Release events"; PROTOCOLS 3.4).
package enum GitLabEvent {
    /// - Parameter now: RFC 3339 in UTC, for releases that are dated in the future.
    package static func read(_ bytes: [UInt8], rules: ReleaseRules, now: String) throws(BodyError) -> ReleaseNews {
        let body = try EventBody(bytes)
        let kind = try body.text("object_kind")
        guard kind == "release" else {
            return .ignored("the event is \(JSONValue.string(kind).sight); only \"release\" announces a version")
        }
        let action = try body.text("action")
        guard action == "create" else {
            return .ignored("the action is \(JSONValue.string(action).sight); only \"create\" announces a version")
        }
        if case .string(let date)? = body.find("released_at"), isFuture(date, now: now) {
            return .ignored("the release is an upcoming one, dated \(JSONValue.shortened(date))")
        }
        return ReleaseNews(rules.tagPattern.read(try body.text("tag")))
    }

    /// "2020-11-02 12:55:12 UTC" or "2020-11-02T12:55:12.000Z": both order as text once their separators are alike. Any
    /// other form is not judged.
    private static func isFuture(_ date: String, now: String) -> Bool {
        guard date.hasSuffix(" UTC") || date.hasSuffix("Z"), date.utf8.count >= 19, now.utf8.count >= 19 else {
            return false
        }
        let second = date.prefix(19).map { $0 == " " ? "T" : $0 }
        return String(now.prefix(19)) < String(second)
    }
}
