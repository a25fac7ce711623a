// SPDX-License-Identifier: Apache-2.0
package import Signing
import WireFormat

/// Judges requests as APNs does (PROTOCOLS 1.1, 1.2, 1.4, 1.6). Holds no time and no connection: both are passed in.
///
/// Apple does not publish in which order it checks. Here: method, path, repeated headers, provider token, the headers
/// one by one, topic, payload, device token.
package struct RequestCheck {
    /// Few, and compared in turn: that is cheaper than hashing, and needs no copy.
    private let topics: [ArraySlice<UInt8>]
    private var book: VerifiedTokenCache

    /// The most bytes of a payload; a VoIP push may have `largestVoIPPayload`.
    package static let largestPayload = 4096
    package static let largestVoIPPayload = 5120
    /// The most bytes, not characters.
    package static let longestCollapseID = 64
    /// Apple: do not hard-code a length. This only keeps nonsense out.
    private static let longestToken = 200

    /// The environment that certificates must be for; nil: any.
    private let world: APNsWorld?

    package init(
        topics: Set<String>, teamID: String, keys: [String: ES256PublicKey], world: APNsWorld? = nil
    ) {
        self.world = world
        self.topics = topics.map { Array($0.utf8)[...] }
        self.book = VerifiedTokenCache(verifier: ProviderTokenVerifier(teamID: teamID, keys: keys))
    }

    /// `payloadSize` is the size that arrived; `payload` may have been cut off after the largest size that can be right. `now` in
    /// seconds since 1970.
    package mutating func judge(
        _ headers: borrowing RequestHeaders, payload: [UInt8], payloadSize: Int, credential: inout ConnectionCredential,
        now: Int64
    ) -> Verdict {
        let reason =
            target(headers) ?? credentialFault(headers, &credential, now: now) ?? fields(headers)
            ?? topic(headers, credential.certificate) ?? self.payload(payload, payloadSize, headers)
            ?? deviceToken(headers.deviceToken)
        return reason.map { .rejected($0) } ?? .accepted
    }

    /// The number of different provider tokens that were good.
    var providerTokens: Int { book.verified }

    private func target(_ headers: borrowing RequestHeaders) -> RejectionReason? {
        guard let method = headers[.method], method == Self.post else { return .methodNotAllowed }
        guard let token = headers.deviceToken else { return .badPath }
        if token.isEmpty { return .missingDeviceToken }
        if token.contains(UInt8(ascii: "/")) { return .badPath }
        return headers.hasDuplicate ? .duplicateHeaders : nil
    }

    /// Checks the certificate if there is one, else the token.
    private mutating func credentialFault(
        _ headers: borrowing RequestHeaders, _ credential: inout ConnectionCredential, now: Int64
    ) -> RejectionReason? {
        guard let certificate = credential.certificate else {
            return credentialFault(headers[.authorization], &credential, now: now)
        }
        guard certificate.isTrusted else { return .badCertificate }
        let worlds = certificate.content.worlds
        return world.map(worlds.contains) ?? !worlds.isEmpty ? nil : .badCertificateEnvironment
    }

    /// Verifies each distinct value once; the age is checked every time.
    package mutating func credentialFault(
        _ authorization: ArraySlice<UInt8>?, _ credential: inout ConnectionCredential, now: Int64
    ) -> RejectionReason? {
        guard let authorization, !authorization.isEmpty else { return .missingProviderToken }
        if credential.isCurrent(authorization.span) { return credential.judgeCurrent(now: now) }
        guard let token = book.token(authorization) else { return .invalidProviderToken }
        return credential.judge(token, authorization, now: now)
    }

    private func fields(_ headers: borrowing RequestHeaders) -> RejectionReason? {
        if let id = headers[.id], !Self.isCanonicalUUID(id) { return .badMessageID }
        if let expiration = headers[.expiration] {
            guard (1...18).contains(expiration.count), expiration.allSatisfy(Self.isDigit) else {
                return .badExpirationDate
            }
        }
        if let priority = headers[.priority] {
            guard Self.priorities.contains(priority) else { return .badPriority }
        }
        if let collapse = headers[.collapseID], collapse.isEmpty || collapse.count > Self.longestCollapseID {
            return .badCollapseID
        }
        if let type = headers[.pushType] {
            guard Self.suffix(ofPushType: type) != nil else { return .invalidPushType }
            // Apple: with push type background "specifying 10 is an error".
            if type == Self.background, headers[.priority] == Self.priorities[0] {
                return .badPriority
            }
        }
        return nil
    }

    private func topic(
        _ headers: borrowing RequestHeaders, _ certificate: ClientCertificate?
    ) -> RejectionReason? {
        guard let topic = headers[.topic], !topic.isEmpty else {
            // Apple: the header may be left out only with a certificate of one topic.
            return certificate?.content.topics.count == 1 ? nil : .missingTopic
        }
        if let certificate, !certificate.content.topics.contains(where: { topic.elementsEqual($0.name.utf8) }) {
            return .topicDisallowed
        }
        guard topic.count <= 255, topic.allSatisfy(Self.isTopicCharacter) else { return .badTopic }
        let suffix = headers[.pushType].flatMap { Self.suffix(ofPushType: $0) } ?? []
        let bundle = topic.suffix(suffix.count) == suffix[...] ? topic.dropLast(suffix.count) : topic
        return topics.contains { bundle == $0 || topic == $0 } ? nil : .topicDisallowed
    }

    /// PayloadEmpty also stands for a payload that is not JSON or has no `aps`: Apple's table has no reason of its own for it.
    private func payload(_ payload: [UInt8], _ size: Int, _ headers: borrowing RequestHeaders) -> RejectionReason? {
        if size == 0 { return .payloadEmpty }
        let isVoIP = headers[.pushType] == Self.voIP
        if size > (isVoIP ? Self.largestVoIPPayload : Self.largestPayload) { return .payloadTooLarge }
        guard case .object(let members)? = try? JSONReader.read(payload),
            case .object? = members.first(where: { $0.name == "aps" })?.value
        else { return .payloadEmpty }
        return nil
    }

    private func deviceToken(_ token: ArraySlice<UInt8>?) -> RejectionReason? {
        guard let token, token.count % 2 == 0, token.count <= Self.longestToken,
            token.allSatisfy({ Hex.value(of: $0) != nil })
        else {
            return .badDeviceToken
        }
        return nil
    }

    /// Lower case only: Apple's text calls for the canonical form. The real service takes upper case too, but a client
    /// that compares ids as text would then fail to recognise its own.
    static func isCanonicalUUID(_ id: ArraySlice<UInt8>) -> Bool {
        guard id.count == 36 else { return false }
        for (place, byte) in id.enumerated() {
            switch place {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return false }
            default: guard isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) else { return false }
            }
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isTopicCharacter(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func suffix(ofPushType type: ArraySlice<UInt8>) -> [UInt8]? {
        pushTypes.first { $0.name == type }?.suffix
    }

    // Bytes, made once: comparing with a string's bytes would cost more than all the rest of a check.
    private static let post = Array("POST".utf8)[...]
    private static let background = Array("background".utf8)[...]
    private static let voIP = Array("voip".utf8)[...]
    /// The usual one first.
    private static let priorities = ["10", "5", "1"].map { Array($0.utf8)[...] }

    /// Push types with their topic suffix (PROTOCOLS 1.2), the usual one first.
    private static let pushTypes: [(name: ArraySlice<UInt8>, suffix: [UInt8])] = [
        ("alert", ""), ("background", ""), ("complication", ".complication"), ("controls", ".push-type.controls"),
        ("fileprovider", ".pushkit.fileprovider"), ("liveactivity", ".push-type.liveactivity"),
        ("location", ".location-query"), ("mdm", ""), ("pushtotalk", ".voip-ptt"), ("voip", ".voip"),
        ("widgets", ".push-type.widgets"),
    ].map { (Array($0.0.utf8)[...], Array($0.1.utf8)) }
}
