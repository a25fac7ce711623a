// SPDX-License-Identifier: Apache-2.0
package import WireFormat

/// GitHub's webhook events (docs.github.com, "Webhook events and payloads"; PROTOCOLS 3.1).
package enum GitHubEvent {
    /// - Parameter name: the header X-GitHub-Event.
    package static func read(_ bytes: [UInt8], name: String?, rules: ReleaseRules) throws(BodyError) -> ReleaseNews {
        let body = try EventBody(bytes)
        guard let name else {
            throw .fields([FieldFault("X-GitHub-Event", "the header is missing; \"release\" is needed")])
        }
        if name == "ping" { return .ping }
        guard name == "release" else {
            return .ignored("the event is \(JSONValue.string(name).sight); only \"release\" announces a version")
        }
        // One release sends several events: "created", "published", "released" or "prereleased"; a draft that is published
        // later may send "published" alone.
        let action = try body.text("action")
        guard action == "published" else {
            return .ignored("the action is \(JSONValue.string(action).sight); only \"published\" announces a version")
        }
        if try body.bool("release", "draft") { return .ignored("the release is a draft") }
        if try body.bool("release", "prerelease"), !rules.prereleases {
            return .ignored("the release is a prerelease; webhooks.prereleases of the app's configuration takes them")
        }
        return ReleaseNews(rules.tagPattern.read(try body.text("release", "tag_name")))
    }
}

extension ReleaseNews {
    init(_ reading: TagPattern.Reading) {
        switch reading {
        case .version(let version): self = .version(version)
        case .none(let reason): self = .ignored(reason)
        }
    }
}
