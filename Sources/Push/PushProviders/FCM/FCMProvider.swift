// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import RelayEngine
import Signing
package import UpgradeRules

/// One app's way to FCM's HTTP v1 API: turns a campaign into a request template, and answers into outcomes.
package struct FCMProvider: PushProvider {
    package struct Settings: Sendable, Hashable {
        /// The project's id, a segment of the path.
        package var project: String
        /// "high" wakes a sleeping phone, "normal" may wait for it.
        package var isHighPriority: Bool
        /// A device keeps the last message of a key while it cannot be reached; four keys at once per device.
        package var collapseKey = "upgrade"
        /// Only this app gets the message, whichever token it goes to. Default: the app that the token belongs to.
        package var packageName: String?
        /// Whether the system itself shows the payload's words; default data alone, which the app reads.
        package var showsNotification = false
        /// The label under which Google's figures show a campaign's pushes. Default none.
        package var analyticsLabel: AnalyticsLabel?
        /// "messages will be allowed to be delivered to the app while the device is in bandwidth constrained mode". Default no.
        package var isForConstrainedBandwidth = false
        /// The same "while the device is on a restricted satellite network". Default no.
        package var isForRestrictedSatellite = false
        /// The settings of an iOS app, which FCM reaches by APNs. Default nil: it is an Android app.
        package var iPhones: IPhones?
        /// Android apps get `page` as a text, since the values of `data` are texts; iPhones get the object.
        var isPageInText: Bool { iPhones == nil }
        package var quotaPerMinute: Int
        package var avoidsQuarterHours: Bool

        package init(
            project: String, isHighPriority: Bool = true, quotaPerMinute: Int = Settings.usualQuota,
            avoidsQuarterHours: Bool = true
        ) {
            self.project = project
            self.isHighPriority = isHighPriority
            self.quotaPerMinute = quotaPerMinute
            self.avoidsQuarterHours = avoidsQuarterHours
        }

        /// The headers of APNs that FCM passes on.
        package struct IPhones: Sendable, Hashable {
            package var priority: Int
            package var collapseID: String

            /// - Parameters:
            ///   - topic: the app's bundle id: a phone shows one notice, whether APNs or FCM brought it.
            ///   - priority: 10, 5 or 1.
            package init(topic: String, priority: Int) {
                self.priority = priority
                collapseID = APNsProvider.Settings.collapseID(for: topic)
            }
        }

        /// "600,000 messages per minute per project by default" (PROTOCOLS 2.4).
        package static let usualQuota = 600_000
    }

    /// The slots of a push, in the order in which `append` fills them.
    private enum Slot {
        static let target = 0
        static let telephone = 1
        static let pushID = 2
        static let count = 3
    }

    private let settings: Settings
    let tokens: FCMTokenSource

    package init(settings: Settings, tokens: FCMTokenSource) {
        self.settings = settings
        self.tokens = tokens
    }

    package var name: String { "FCM" }
    package var identity: AnyHashable { Identity(settings: settings, tokens: ObjectIdentifier(tokens)) }
    package var credential: AnyHashable { ObjectIdentifier(tokens) }
    package var answerJudge: any AnswerJudge { FCMJudge() }

    package var quota: QuotaLimit? {
        QuotaLimit(
            project: "FCM/\(settings.project)", perMinute: settings.quotaPerMinute,
            avoidsQuarterHours: settings.avoidsQuarterHours)
    }

    private struct Identity: Hashable {
        var settings: Settings
        var tokens: ObjectIdentifier
    }

    // MARK: Request

    package func check(_ payload: UpgradePayload, longestTelephone: Int) throws {
        for (field, text) in [("type", payload.type), ("downloadUrl", payload.downloadURL)] where text.isEmpty {
            throw PayloadError.empty(field: field)
        }
        let size = FCMBody(payload, settings, campaign: "", life: .zero).sharedSize + longestTelephone
        guard size <= FCMBody.maximumSize else {
            throw PayloadError.tooLarge(size: size, limit: FCMBody.maximumSize)
        }
    }

    package func sample(
        _ payload: UpgradePayload, telephone: String, timeToLive: Duration
    ) -> (body: [UInt8], size: Int) {
        let campaign = "000000000000"
        let body = FCMBody(payload, settings, campaign: campaign, life: timeToLive)
        return (
            body.render(token: "TOKEN", telephone: telephone, pushID: PushID.text(campaign: campaign, device: 1)),
            body.sharedSize + UpgradePayload.escapedSize(telephone.utf8)
        )
    }

    /// - Throws: `CredentialPending`, `UnusableCredential`.
    package func template(
        for payload: UpgradePayload, of campaign: String, authority: String, expiresAt: Timestamp, at now: Timestamp
    ) throws -> PushTemplate {
        let token = try tokens.token(at: now)
        // PROTOCOLS 2.1. The access token is a secret: "never indexed" (RFC 7541, 7.1.3).
        let fields: [RequestTemplate.Field] = [
            .init(":method", "POST"),
            .init(":scheme", "https"),
            .init(":authority", authority),
            .init(":path", "/v1/projects/\(settings.project)/messages:send"),
            .init("authorization", .constant(Array("Bearer \(token.text)".utf8)), isIndexed: false),
            .init("content-type", "application/json"),
        ]
        let body = FCMBody(payload, settings, campaign: campaign, life: expiresAt - now, expiresAt: expiresAt)
        let pieces: [RequestTemplate.Value] = [
            .constant(body.start), .slot(Slot.target), .constant(body.beforeTelephone), .slot(Slot.telephone),
            .constant(body.afterTelephone), .slot(Slot.pushID), .constant(body.end),
        ]
        return PushTemplate(
            request: RequestTemplate(fields: fields, body: pieces, slotCount: Slot.count),
            credentialMadeAt: token.askedAt, credentialNumber: token.number)
    }

    /// Registration token, telephone, push id.
    package var bytesPerPush: Int { 240 }

    package func append(_ targets: [PushTarget], of arena: [UInt8], campaign: [UInt8], to batch: RequestBatch) {
        let isPageInText = settings.isPageInText
        for target in targets {
            batch.append { request in
                request.appendSlot { FCMBody.appendTarget(arena, target.token.range, to: &$0) }
                request.appendSlot {
                    FCMBody.appendTelephone(arena, target.telephone.range, isPageInText: isPageInText, to: &$0)
                }
                request.appendSlot { PushID.append(campaign: campaign, device: target.device, to: &$0) }
            }
        }
    }

    package func refusals(
        of targets: [PushTarget], in arena: [UInt8], _ payload: UpgradePayload
    ) -> [(place: Int, reason: String)] {
        let room = FCMBody(payload, settings, campaign: "", life: .zero).roomForTelephone
        var refusals: [(place: Int, reason: String)] = []
        for (place, target) in targets.enumerated() {
            let telephone = target.telephone.range
            // A character takes at most six bytes in JSON (RFC 8259, 7).
            if telephone.count * 6 > room, UpgradePayload.escapedSize(arena[telephone]) > room {
                refusals.append((place, "PayloadTooLarge"))
            } else if !FCMBody.isSendable(token: target.token.range, of: arena) {
                refusals.append((place, "MalformedDeviceToken"))
            }
        }
        return refusals
    }

    // MARK: Answer

    package func outcome(of answer: Answer, in batch: RequestBatch, at now: Timestamp) -> PushOutcome {
        if let outcome = PushOutcome.withoutAnswer(answer) { return outcome }
        let reaction = Self.reaction(to: answer, in: batch)
        // APNs refuses FCM's own key: each push to an iPhone of the project fails until the project's owner has corrected
        // that, whatever the token. In an Android app the answer concerns its token alone, which is not an Android phone's.
        if settings.iPhones != nil, FCMReaction.aboutAPNs.contains(reaction.reason) {
            return .fault(reason: reaction.reason, .keyOfService)
        }
        return Self.outcome(
            reaction,
            retryAfter: answer.retryAfter < 0 ? nil : .seconds(Int64(answer.retryAfter)), at: now)
    }

    /// The reaction that the lane's judge found, if it has read the body.
    private static func reaction(to answer: Answer, in batch: RequestBatch) -> FCMReaction {
        guard answer.body >= 0 else { return FCMReaction.to(status: answer.status, nil) }
        return FCMReaction.to(status: answer.status, entry: batch.reading(of: answer).entry)
            ?? FCMReaction.to(status: answer.status, FCMErrorBody(batch.bodies[Int(answer.body)]))
    }

    /// FCM does not report since when a token is dead, so the time of the answer counts. A device that registers again after it
    /// was read for the push has a newer time of registration, and stays.
    static func outcome(_ reaction: FCMReaction, retryAfter: Duration?, at now: Timestamp) -> PushOutcome {
        let reason = reaction.reason
        switch reaction.push {
        case .accepted: return .accepted
        case .rejected: return .rejected(reason: reason)
        // "Drop the token only […] if the same payload succeeds elsewhere" (PROTOCOLS 2.3).
        case .badToken: return .invalidToken(reason: reason, since: now)
        case .unregistered: return .unregistered(reason: reason, since: now)
        case .perhapsUnregistered: return .unregistered(reason: reason, since: nil)
        case .quota: return .retry(.quota(quotaBackoff, retryAfter: retryAfter), reason: reason)
        case .unavailable: return .retry(.unavailable(outageBackoff, retryAfter: retryAfter), reason: reason)
        case .renewCredential: return .renewCredential(reason: reason)
        case .fault(let fault): return .fault(reason: reason, fault)
        }
    }

    // Google, "Best practices when sending FCM messages at scale" (PROTOCOLS 2.3): "wait at least 10 seconds" before the first
    // retry of a 5xx, and for a 429 without `Retry-After` "default to 60 seconds"; then exponentially, with jitter.
    static let quotaBackoff = RetrySchedule.Backoff(first: .seconds(60), limit: .seconds(3600))
    static let outageBackoff = RetrySchedule.Backoff(first: .seconds(10), limit: .seconds(3600))

    // MARK: Credential

    package func renewCredential(after template: PushTemplate, at now: Timestamp) throws -> CredentialRenewal {
        switch tokens.rejected(template.credentialNumber, at: now) {
        case .renew: .renewed
        case .alreadyRenewed: .kept
        case .futile: .futile(.credential, reason: "UNAUTHENTICATED")
        }
    }

    package func forgetRefusal() { tokens.forgetRefusal() }
    package func askAtOnce() { tokens.askAtOnce() }

    package func whenCredentialIsKnown(_ body: @escaping @Sendable () -> Void) { tokens.whenAnswered(body) }

    // MARK: Words

    /// All reasons that a push can have, except the bare status of an answer. etc/TROUBLESHOOTING.md explains each.
    package static let reasons: Set<String> = FCMReaction.reasons.union(PushOutcome.transportReasons).union([
        "MalformedDeviceToken", "PayloadTooLarge",
    ])

    package var knownReasons: Set<String> { Self.reasons }

    /// The reasons that an operator can end by another key, project or permission.
    package static let credentialReasons: Set<String> = [
        UnusableCredential.refusalWord, "UNAUTHENTICATED", "PERMISSION_DENIED", "SENDER_ID_MISMATCH",
        "THIRD_PARTY_AUTH_ERROR",
        "APNS_AUTH_ERROR", "SERVICE_DISABLED", "IAM_PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
        "SECURITY_POLICY_VIOLATED", "CONSUMER_INVALID", "CONSUMER_SUSPENDED", "USER_PROJECT_DENIED",
    ]

    package func explain(
        _ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)?, _ place: SendingPlace
    ) -> String {
        FCMRemedy(place: place, project: settings.project, account: tokens.account.email).text(
            fault, reason: reason, refused: refused)
    }
}
