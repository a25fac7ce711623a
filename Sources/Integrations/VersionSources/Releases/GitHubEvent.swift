// SPDX-License-Identifier: Apache-2.0
package import WireFormat

/// GitHub's webhook events (docs.github.com, "Webhook events and payloads"; PROTOCOLS 3.1).
package enum GitHubEvent {
    /// - Parameter name: the header X-GitHub-Event.
    package static func read(_ bytes: [UInt8], name: String?, rules: ReleaseRules) throws(BodyError) -> ReleaseVerdict {
        let body = try EventBody(bytes)
        guard let name else {
            throw .fields([FieldFault("X-GitHub-Event", "the header is missing; \"release\" is needed")])
        }
        if name == "ping" { return .ping }
        guard name == "release" else {
            return .ignored("the event is \(JSONValue.string(name).sight); only \"release\" announces a version")
        }
        if let other = rules.mismatch(.gitHubRepository, body.find("repository", "full_name")) {
            return .ignored(other)
        }
        // One release sends several events: "created", "published", "released" or "prereleased"; a draft that is published
        // later may send "published" alone. A prerelease that becomes a release sends "edited" and "released".
        let action = try body.text("action")
        guard actions.contains(action) else {
            let known = actions.map { "\"\($0)\"" }.joined(separator: ", ")
            return .ignored("the action is \(JSONValue.string(action).sight); only \(known) announce a version")
        }
        if action == "edited", case .object(let changes)? = body.find("changes"), !changes.isEmpty,
            changes.allSatisfy({ words.contains($0.name) })
        {
            return .ignored("only the words of the release were edited")
        }
        if try body.bool("release", "draft") { return .ignored("the release is a draft") }
        if try body.bool("release", "prerelease"), !rules.prereleases {
            return .ignored("the release is a prerelease; webhooks.prereleases of the app's configuration takes them")
        }
        return ReleaseVerdict(
            rules.tagPattern.read(try body.text("release", "tag_name")), isFirst: action == "published")
    }

    private static let actions = ["published", "released", "prereleased", "edited"]
    /// The members of `changes` that are words only: an edit of these alone does not publish the release.
    private static let words: Set = ["body", "name", "make_latest"]
}

extension ReleaseRules {
    /// Why an event is not from the app's repository; nil: it is, or none is configured.
    func mismatch(_ field: AnswerField, _ named: JSONValue?) -> String? {
        guard let repository else { return nil }
        // Both services ignore the case of names.
        let name = named.map { name in name.string.map { JSONValue.string($0.lowercased()) } ?? name }
        guard let fault = field.fault(name, wanted: [repository.lowercased()], isNeeded: true) else { return nil }
        return "the event is of another repository: \(fault)"
    }
}

extension ReleaseVerdict {
    /// - Parameter isFirst: whether the event is the one that every release has.
    init(_ reading: TagPattern.Reading, isFirst: Bool) {
        switch reading {
        case .version(let version): self = isFirst ? .version(version) : .outByNow(version)
        case .none(let reason): self = .ignored(reason)
        }
    }
}
