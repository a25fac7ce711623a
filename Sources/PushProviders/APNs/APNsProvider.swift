// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import RelayEngine
package import UpgradeRules

/// One app's way to APNs: turns a campaign into a request template, and answers into outcomes.
package struct APNsProvider: Sendable {
    package struct Settings: Sendable, Hashable {
        /// The bundle id.
        package var topic: String
        /// 10, 5 or 1.
        package var priority: Int
        package var collapseID: String

        /// - Parameter collapseID: nil makes one for the app; APNs allows 64 bytes.
        package init(topic: String, priority: Int, collapseID: String? = nil) {
            self.topic = topic
            self.priority = priority
            self.collapseID = collapseID ?? Self.collapseID(for: topic)
        }

        /// One id per app, so that a phone shows one upgrade notice however many were sent. A bundle id may have 155
        /// characters; a long one keeps its end, which tells apps apart.
        static func collapseID(for topic: String) -> String {
            "upgrade-" + String(decoding: topic.utf8.suffix(maximumCollapseID - "upgrade-".utf8.count), as: UTF8.self)
        }

        static let maximumCollapseID = 64
    }

    /// The slots of a push, in the order in which `append` fills them.
    private enum Slot {
        static let path = 0
        static let pushID = 1
        static let telephone = 2
        static let count = 3
    }

    private let settings: Settings
    private let tokens: APNsTokenSource

    package init(settings: Settings, tokens: APNsTokenSource) {
        self.settings = settings
        self.tokens = tokens
    }

    // MARK: Request

    /// What all pushes of a campaign share, with the provider token of this moment.
    package struct Template: Sendable {
        package let request: RequestTemplate
        /// When its provider token was signed.
        package let tokenIssuedAt: Timestamp
    }

    /// - Throws: `SigningError`.
    package func template(
        payload: UpgradePayload, authority: String, expiresAt: Timestamp, at now: Timestamp
    ) throws -> Template {
        let token = try tokens.token(at: now)
        // PROTOCOLS 1.2. HPACK as Apple asks (PROTOCOLS 1.7, text A): path and authorization without indexing, and so
        // the apns-id, which differs each time; what stays the same is indexed.
        let fields: [RequestTemplate.Field] = [
            .init(":method", "POST"),
            .init(":scheme", "https"),
            .init(":authority", authority),
            .init(":path", .slot(Slot.path), isIndexed: false),
            .init("authorization", .constant(Array("bearer \(token.text)".utf8)), isIndexed: false),
            .init("apns-topic", settings.topic),
            .init("apns-push-type", "alert"),
            .init("apns-id", .slot(Slot.pushID), isIndexed: false),
            .init("apns-expiration", String(expiresAt.seconds)),
            .init("apns-priority", String(settings.priority)),
            .init("apns-collapse-id", settings.collapseID),
        ]
        let body: [RequestTemplate.Value] = [
            .constant(payload.beforeTelephone), .slot(Slot.telephone), .constant(payload.afterTelephone),
        ]
        return Template(
            request: RequestTemplate(fields: fields, body: body, slotCount: Slot.count), tokenIssuedAt: token.issuedAt)
    }

    /// Bytes that a push adds to a batch's arena, about: path, apns-id, telephone.
    package static let bytesPerPush = 128

    private static let pathPrefix = Array("/3/device/".utf8)

    /// Whether a device token may stand in a request's path: hex digits and nothing else (Apple, "Registering your app with
    /// APNs"). The API lets no other in, but other programs write to the store too, and a CR, LF or NUL makes the request
    /// malformed (RFC 9113, 8.2.1): a strict server may close the connection, with everybody else's pushes on it.
    package static func isSendable(token: Range<Int>, of arena: [UInt8]) -> Bool {
        guard !token.isEmpty, token.count <= longestToken else { return false }
        precondition(token.lowerBound >= 0 && token.upperBound <= arena.count)
        return unsafe arena.withUnsafeBufferPointer { bytes in
            // No way out before the end, no check of the place and no "or" that may stop early: so the compiler takes 16 and
            // more bytes at once. 5 ns for a token of 64 digits; with any of the three it is 200.
            var wrong: UInt8 = 0
            let digits = unsafe UnsafeBufferPointer(rebasing: bytes[token])
            var place = 0
            while place < digits.count {
                let byte = unsafe digits[place]
                let isNoDigit: UInt8 = byte &- 0x30 > 9 ? 1 : 0
                let isNoLetter: UInt8 = (byte | 0x20) &- 0x61 > 5 ? 1 : 0
                wrong |= isNoDigit & isNoLetter
                place &+= 1
            }
            return wrong == 0
        }
    }

    /// Bytes. Apple: do not hard-code a length. This only keeps out what is no token.
    private static let longestToken = 400

    /// Appends one push to a batch.
    ///
    /// - Parameters:
    ///   - arena: holds the token and the telephone, UTF-8.
    package static func append(
        token: Range<Int>, telephone: Range<Int>, of arena: [UInt8], campaign: [UInt8], device: Int64,
        to batch: RequestBatch
    ) {
        batch.append { request in
            request.appendSlot { bytes in
                bytes.append(contentsOf: pathPrefix)
                bytes.append(contentsOf: arena[token])
            }
            request.appendSlot { PushID.append(campaign: campaign, device: device, to: &$0) }
            request.appendSlot { UpgradePayload.appendEscaped(arena, telephone, to: &$0) }
        }
    }

    // MARK: Answer

    /// What the answer to a push means for it.
    package func outcome(of answer: Answer, in batch: RequestBatch, at now: Timestamp) -> PushOutcome {
        switch answer.kind {
        case .unsent where answer.sends >= PoolMachine.sendLimit:
            return .retry(.transport, reason: "StreamRefused")
        case .open, .unsent:
            return .retry(.held, reason: "NotSent")
        case .unreachable:
            return .retry(.unreachable(rest: .seconds(Int64(max(1, answer.retryAfter)))), reason: "NoConnection")
        case .lost:
            return .retry(.transport, reason: "ConnectionLost")
        case .answered:
            if answer.status == 200 { return .accepted }
            let body = answer.body < 0 ? APNsErrorBody([]) : APNsErrorBody(batch.bodies[Int(answer.body)])
            return Self.outcome(
                status: answer.status, reason: body.reason, timestamp: body.timestamp,
                retryAfter: answer.retryAfter < 0 ? nil : .seconds(Int64(answer.retryAfter)))
        }
    }

    /// Whether the service called the token bad where it was sent.
    package func isBadToken(_ answer: Answer, in batch: RequestBatch) -> Bool {
        means(answer, 400, .badToken, in: batch)
    }

    /// Whether the service wants a pause of everything that uses this credential.
    package func wantsPause(_ answer: Answer, in batch: RequestBatch) -> Bool {
        means(answer, 429, .pauseCredential, in: batch)
    }

    private func means(
        _ answer: Answer, _ status: UInt16, _ push: APNsReaction.Push, in batch: RequestBatch
    ) -> Bool {
        guard answer.kind == .answered, answer.status == status, answer.body >= 0 else { return false }
        let reason = APNsErrorBody(batch.bodies[Int(answer.body)]).reason
        return APNsReaction.to(status: status, reason: reason).push == push
    }

    static func outcome(
        status: UInt16, reason: String?, timestamp: Timestamp?, retryAfter: Duration?
    ) -> PushOutcome {
        let name = reason ?? "HTTP \(status)"
        switch APNsReaction.to(status: status, reason: reason).push {
        case .accepted: return .accepted
        case .rejected: return .rejected(reason: name)
        case .badToken: return .badToken(reason: name)
        case .unregistered: return .unregistered(reason: name, since: timestamp)
        case .retry(let cause): return .retry(cause, reason: name)
        case .retryService: return .retry(.service(retryAfter: retryAfter), reason: name)
        case .renewCredential: return .renewCredential(reason: name)
        case .pauseCredential: return .pauseCredential(retryAfter ?? credentialPause, reason: name)
        case .reconnect: return .reconnect(reason: name)
        case .suspend(let fault): return .suspend(reason: name, fault)
        }
    }

    /// After TooManyProviderTokenUpdates: minutes, up to Apple's 20 (PROTOCOLS 1.6).
    private static let credentialPause = Duration.seconds(300)

    /// APNs called the token of `template` expired.
    package func refused(_ template: Template, at now: Timestamp) throws -> ProviderTokenMachine.Refusal {
        try tokens.refused(template.tokenIssuedAt, at: now)
    }

    /// APNs wants a pause of everything that uses this credential, also after a restart.
    package func pauseCredential(until time: Timestamp) {
        tokens.pause(until: time)
    }

    /// When the pause is over that APNs wants of this credential, and its word for it; nil where it wants none.
    package func credentialPause(at now: Timestamp) -> (until: Timestamp, reason: String)? {
        tokens.pause(at: now).map { ($0, "TooManyProviderTokenUpdates") }
    }

    /// Whether both sign with one token source: what the service says about a credential concerns all that use it.
    package func sharesCredential(with other: APNsProvider) -> Bool {
        tokens === other.tokens
    }

    // MARK: Words

    /// Why the campaign is suspended and what its operator can do.
    ///
    /// - Parameter refused: how many of the first pushes were refused; for `.mostlyRefused`.
    package func explain(
        _ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)? = nil, _ remedy: APNsRemedy
    ) -> String {
        remedy.text(
            fault, reason: reason, topic: settings.topic, teamID: tokens.teamID, keyID: tokens.keyID, refused: refused)
    }
}
