// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import RelayEngine
package import Signing
package import UpgradeRules

/// One app's way to APNs: turns a campaign into a request template, and answers into outcomes.
package struct APNsProvider: PushProvider {
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

        /// One id per app, so that a phone shows one upgrade notice however many were sent. A bundle id may have 155 characters;
        /// a long one keeps its end, which is where apps differ.
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
    private let allowedBy: APNsCredential

    package init(settings: Settings, credential: APNsCredential) {
        self.settings = settings
        allowedBy = credential
    }

    package init(settings: Settings, tokens: APNsTokenSource) {
        self.init(settings: settings, credential: .key(tokens, of: .both))
    }

    /// The certificate whose end is watched; nil where a key signs.
    package var certificate: PushCertificate? {
        guard case .certificate(let certificate, _) = allowedBy else { return nil }
        return certificate
    }

    private var tokens: APNsTokenSource? {
        guard case .key(let tokens, _) = allowedBy else { return nil }
        return tokens
    }

    package var name: String { "APNs" }
    package var hasSandbox: Bool { true }
    package var identity: AnyHashable { Identity(settings: settings, credential: credential) }
    package var credential: AnyHashable { allowedBy.identity }
    package var answerJudge: any AnswerJudge { APNsJudge() }

    private struct Identity: Hashable {
        var settings: Settings
        var credential: AnyHashable
    }

    // MARK: Request

    package func check(_ payload: UpgradePayload, longestTelephone: Int) throws {
        try payload.checked(longestTelephone: longestTelephone)
    }

    /// - Throws: `SigningError`, `CredentialPending`, or `UnusableCredential`.
    package func template(
        for payload: UpgradePayload, of campaign: String, authority: String, expiresAt: Timestamp, at now: Timestamp
    ) throws -> PushTemplate {
        try allowedBy.check(at: now)
        let token = try tokens?.token(at: now)
        // PROTOCOLS 1.2. HPACK as Apple asks (PROTOCOLS 1.7, text A): path and authorization without indexing, and likewise the
        // apns-id, which differs each time; fields that stay the same are indexed.
        var fields: [RequestTemplate.Field] = [
            .init(":method", "POST"),
            .init(":scheme", "https"),
            .init(":authority", authority),
            .init(":path", .slot(Slot.path), isIndexed: false),
        ]
        if let token {
            fields.append(
                .init("authorization", .constant(Array("bearer \(token.text)".utf8)), isIndexed: false))
        }
        fields += [
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
        return PushTemplate(
            request: RequestTemplate(fields: fields, body: body, slotCount: Slot.count),
            credentialMadeAt: token?.issuedAt ?? now)
    }

    /// Path, apns-id, telephone.
    package var bytesPerPush: Int { 128 }

    private static let pathPrefix = Array("/3/device/".utf8)

    /// Whether a device token may stand in a request's path: hex digits and nothing else (Apple, "Registering your app with
    /// APNs"). The API lets no other in, but other programs write to the store too, and a CR, LF or NUL makes the request
    /// malformed (RFC 9113, 8.2.1): a strict server may close the connection, with all other pushes on it.
    package static func isSendable(token: Range<Int>, of arena: [UInt8]) -> Bool {
        guard !token.isEmpty, token.count <= longestToken else { return false }
        precondition(token.lowerBound >= 0 && token.upperBound <= arena.count)
        return unsafe arena.withUnsafeBufferPointer { bytes in
            // No exit before the end, no bounds check and no "or" that may stop early: this lets the compiler take 16 and more
            // bytes at once. 5 ns for a token of 64 digits; with any of the three it is 200.
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

    /// Bytes. Apple: do not hard-code a length. This only keeps out texts that are no token.
    private static let longestToken = 400

    package func append(_ targets: [PushTarget], of arena: [UInt8], campaign: [UInt8], to batch: RequestBatch) {
        for target in targets {
            batch.append { request in
                request.appendSlot { bytes in
                    bytes.append(contentsOf: Self.pathPrefix)
                    bytes.append(contentsOf: arena[target.token.range])
                }
                request.appendSlot { PushID.append(campaign: campaign, device: target.device, to: &$0) }
                request.appendSlot { UpgradePayload.appendEscaped(arena, target.telephone.range, to: &$0) }
            }
        }
    }

    package func refusals(
        of targets: [PushTarget], in arena: [UInt8], _ payload: UpgradePayload
    ) -> [(place: Int, reason: String)] {
        var refusals: [(place: Int, reason: String)] = []
        for (place, target) in targets.enumerated() {
            if isTooLarge(target.telephone.range, of: arena, payload) {
                refusals.append((place, "PayloadTooLarge"))
            } else if !Self.isSendable(token: target.token.range, of: arena) {
                refusals.append((place, "MalformedDeviceToken"))
            }
        }
        return refusals
    }

    /// APNs takes 4096 bytes; a character of a telephone takes at most six in JSON (RFC 8259, 7).
    private func isTooLarge(_ telephone: Range<Int>, of arena: [UInt8], _ payload: UpgradePayload) -> Bool {
        guard telephone.count * 6 > payload.roomForTelephone else { return false }
        return UpgradePayload.escapedSize(arena[telephone]) > payload.roomForTelephone
    }

    // MARK: Answer

    /// The outcome of a push, by its answer.
    package func outcome(of answer: Answer, in batch: RequestBatch, at now: Timestamp) -> PushOutcome {
        if let outcome = PushOutcome.withoutAnswer(answer) { return outcome }
        if answer.status == 200 {
            return answer.body < 0 ? .accepted : Self.outcome(ofGood: batch.bodies[Int(answer.body)])
        }
        let body = Self.body(of: answer, in: batch)
        let outcome = Self.outcome(
            status: answer.status, reason: body.reason, timestamp: body.timestamp(at: now),
            retryAfter: answer.retryAfter < 0 ? nil : .seconds(Int64(answer.retryAfter)))
        return tokens == nil ? Self.withoutTokens(outcome) : outcome
    }

    /// The outcome of a 200 with a body, which APNs' own never has. Status and body may disagree, so the push counts as not taken
    /// where the body does not look good, and the token stays.
    static func outcome(ofGood body: [UInt8]) -> PushOutcome {
        if let reason = APNsErrorBody(body).reason { return .rejected(reason: reason) }
        return APNsJudge.isGood(body) ? .accepted : .fault(reason: "HTTP 200", .answer)
    }

    /// The outcome where no token is sent: an answer about provider tokens then asks for nothing that the relay could
    /// do, since a server on the way added the token.
    private static func withoutTokens(_ outcome: PushOutcome) -> PushOutcome {
        switch outcome {
        case .renewCredential(let reason), .pauseCredential(_, let reason), .reconnect(let reason):
            .fault(reason: reason, .unknown)
        default: outcome
        }
    }

    package func badTokens(in batch: RequestBatch) -> [Int] {
        batch.answers.indices.filter { means(batch.answers[$0], 400, .badToken, in: batch) }
    }

    package func wantsPause(_ batch: RequestBatch) -> Bool {
        tokens != nil && batch.answers.contains { means($0, 429, .pauseCredential, in: batch) }
    }

    private func means(
        _ answer: Answer, _ status: UInt16, _ push: APNsReaction.Push, in batch: RequestBatch
    ) -> Bool {
        guard answer.kind == .answered, answer.status == status, answer.body >= 0 else { return false }
        return APNsReaction.to(status: status, reason: Self.body(of: answer, in: batch).reason).push == push
    }

    /// The body as the lane's judge read it; a reason that is not in the table is read from the bytes.
    private static func body(of answer: Answer, in batch: RequestBatch) -> APNsErrorBody {
        guard answer.body >= 0 else { return APNsErrorBody([]) }
        let reading = batch.reading(of: answer)
        if reading.entry > 0 {
            return APNsErrorBody(
                reason: APNsReaction.entries[Int(reading.entry) - 1].key.reason, milliseconds: reading.number)
        }
        return APNsErrorBody(batch.bodies[Int(answer.body)])
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
        case .tooManyRequests: return .retry(.tooManyRequests(retryAfter: retryAfter), reason: name)
        case .serviceFailed: return .retry(.service(retryAfter: retryAfter), reason: name)
        case .renewCredential: return .renewCredential(reason: name)
        case .pauseCredential: return .pauseCredential(retryAfter ?? credentialPause, reason: name)
        case .reconnect: return .reconnect(reason: name)
        case .fault(let fault): return .fault(reason: name, fault)
        }
    }

    /// After TooManyProviderTokenUpdates: minutes, up to Apple's 20 (PROTOCOLS 1.6).
    private static let credentialPause = Duration.seconds(300)

    package func renewCredential(after template: PushTemplate, at now: Timestamp) throws -> CredentialRenewal {
        switch try tokens?.refused(template.credentialMadeAt, at: now) {
        case .sign?, .taken?: .renewed
        case .alreadyRenewed?, nil: .kept
        case .paused(let end)?: .paused(until: end)
        case .clockSkew?: .futile(.clock, reason: "ExpiredProviderToken")
        }
    }

    package func pauseCredential(until time: Timestamp, by server: String, at now: Timestamp) {
        tokens?.pause(until: time, by: server, now: now)
    }

    package func saveCredentialAgain() { tokens?.saveAgain() }

    package func credentialPause(at server: String, now: Timestamp) -> (until: Timestamp, reason: String)? {
        tokens?.pause(at: server, now: now).map { ($0, "TooManyProviderTokenUpdates") }
    }

    // MARK: Words

    package func explain(
        _ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)?, _ place: SendingPlace
    ) -> String {
        APNsRemedy(place: place, topic: settings.topic, credential: allowedBy)
            .text(fault, reason: reason, refused: refused)
    }
}

/// The meaning of an APNs answer for its connection, by the same table that decides about the push.
package struct APNsJudge: AnswerJudge {
    package init() {}

    /// "For a successful request, the body of the response is empty" (Apple, "Handling notification responses from
    /// APNs"). Any other body is kept and judged, unless it begins as an object whose first member is not `reason`.
    package func isGood(_ body: Span<UInt8>) -> Bool {
        var beginning = BodyBeginning()
        return beginning.opensObject(body) && beginning.takes("\"reason\"", body) == false
    }

    /// A stand-in may send a body that reports no error, as long as it is an object.
    static func isGood(_ body: [UInt8]) -> Bool {
        body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }.map { $0 == UInt8(ascii: "{") } ?? true
    }

    package func judge(status: UInt16, body bytes: [UInt8]) -> (verdict: AnswerVerdict, reading: AnswerReading) {
        if status == 200 {
            let isRefusal = APNsErrorBody(bytes).reason != nil
            return (isRefusal || Self.isGood(bytes) ? .keep : .doubt, AnswerReading())
        }
        let body = APNsErrorBody(bytes)
        guard let entry = APNsReaction.entry(status: status, reason: body.reason) else {
            return (APNsReaction.to(status: status, reason: body.reason).connection, AnswerReading())
        }
        return (
            APNsReaction.entries[entry].value.connection,
            AnswerReading(entry: UInt16(entry + 1), number: body.milliseconds)
        )
    }
}
