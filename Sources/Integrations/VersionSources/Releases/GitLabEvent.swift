// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import WireFormat

/// GitLab's release events (docs.gitlab.com, "Webhook events", "Release events"; PROTOCOLS 3.4).
package enum GitLabEvent {
    /// - Parameter now: RFC 3339 in UTC, for releases that are dated in the future.
    package static func read(_ bytes: [UInt8], rules: ReleaseRules, now: String) throws(BodyError) -> ReleaseVerdict {
        let body = try EventBody(bytes)
        let kind = try body.text("object_kind")
        guard kind == "release" else {
            return .ignored("the event is \(JSONValue.string(kind).sight); only \"release\" announces a version")
        }
        if let other = rules.mismatch(.gitLabProject, body.find("project", "path_with_namespace")) {
            return .ignored(other)
        }
        // A release that was dated ahead, or got another date, is announced by an update.
        let action = try body.text("action")
        guard action == "create" || action == "update" else {
            return .ignored(
                "the action is \(JSONValue.string(action).sight); only \"create\" and \"update\" announce a version")
        }
        if case .string(let date)? = body.find("released_at"), isFuture(date, now: now) {
            return .ignored("the release is an upcoming one, dated \(JSONValue.shortened(date))")
        }
        return ReleaseVerdict(rules.tagPattern.read(try body.text("tag")), isFirst: action == "create")
    }

    /// "2020-11-02 12:55:12 UTC", "2020-11-02 12:55:12 +0200" or "2020-11-02T12:55:12.000Z", to the second. A date in
    /// another form does not count as future.
    private static func isFuture(_ date: String, now: String) -> Bool {
        var text = date.replacing(" UTC", with: "Z")
        if let space = text.firstIndex(of: " ") { text.replaceSubrange(space...space, with: "T") }
        text = text.replacing(" ", with: "")
        // RFC 3339 needs a colon in the offset.
        if let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }), text[sign...].utf8.count == 5 {
            text.insert(":", at: text.index(sign, offsetBy: 3))
        }
        guard let moment = Timestamp(internetTime: text), let now = Timestamp(internetTime: now) else { return false }
        return moment.seconds > now.seconds
    }
}
