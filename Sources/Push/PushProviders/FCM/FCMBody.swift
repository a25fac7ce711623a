// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules

/// A message as FCM takes it, except for the parts that differ from push to push (PROTOCOLS 2.2):
/// ```json
/// {"message":{"token":"…","data":{"page":"{\"type\":\"…\",\"userTel\":\"…\",\"downloadUrl\":\"…\",…}","pushId":"…"},
///             "android":{"priority":"high","ttl":"604800s","collapse_key":"upgrade"}}}
/// ```
/// The values of `data` must be texts, so `page` is the JSON text of the object that an iOS push has there: a JSON text in a JSON
/// text, whose content is escaped twice. Everything is rendered once for a campaign; a push only copies its own few bytes.
package struct FCMBody: Hashable, Sendable {
    /// Bytes of keys and values, together, of `data` and of `notification`: "Maximum message payload size is 4096 bytes".
    package static let maximumSize = 4096
    /// "four weeks", also FCM's default.
    static let longestLife: Int64 = 2_419_200

    /// Before the target's key.
    let start = Array(#"{"message":{""#.utf8)
    /// From the quotation mark that closes the target to the one that opens the telephone.
    let beforeTelephone: [UInt8]
    /// From the quotation mark that closes the telephone to the one that opens the push's id.
    let afterTelephone: [UInt8]
    /// From the quotation mark that closes the push's id to the end.
    let end: [UInt8]
    /// Keys and values without the telephone.
    package let sharedSize: Int
    /// `FCMProvider.Settings.isPageInText`.
    private let isPageInText: Bool

    /// - Parameters:
    ///   - campaign: its id; for the analytics label.
    ///   - expiresAt: nil: in a sample, which is not sent.
    init(
        _ payload: UpgradePayload, _ settings: FCMProvider.Settings, campaign: String, life: Duration,
        expiresAt: Timestamp? = nil
    ) {
        isPageInText = settings.isPageInText
        let label = settings.analyticsLabel.map { Self.options($0, campaign: campaign) } ?? []
        if let iPhones = settings.iPhones {
            let message = FCMMessageToIPhone(payload, iPhones, expiresAt: expiresAt)
            (beforeTelephone, afterTelephone) = (message.beforeTelephone, message.afterTelephone)
            self.end = message.end + label + Array("}}".utf8)
            sharedSize = message.sharedSize
            return
        }
        let (before, after) = (payload.pageBeforeTelephone, payload.pageAfterTelephone)
        var size = "page".utf8.count + before.count + after.count + "pushId".utf8.count + PushID.length

        beforeTelephone = Array(#"","data":{"page":""#.utf8) + Self.escaped(before)
        afterTelephone = Self.escaped(after) + Array(#"","pushId":""#.utf8)
        var end = Array(#""}"#.utf8)
        let notification = settings.showsNotification ? FCMNotification(payload.words) : FCMNotification()
        size += notification.size
        if let texts = notification.texts { end += Array(#","notification":"#.utf8) + texts }
        let seconds = min(max(life.milliseconds / 1000, 0), Self.longestLife)
        end += Array(
            #","android":{"priority":"\#(settings.isHighPriority ? "high" : "normal")","ttl":"\#(seconds)s""#.utf8)
        end += Array(#","collapse_key":""#.utf8) + Self.escaped(settings.collapseKey.utf8) + Self.quote
        if let name = settings.packageName {
            end += Array(#","restricted_package_name":""#.utf8) + Self.escaped(name.utf8) + Self.quote
        }
        if let android = notification.android { end += Array(#","notification":"#.utf8) + android }
        // Only fields that are set are written, so that a message without them stays as it was before they existed.
        if settings.isForConstrainedBandwidth { end += Array(#","bandwidth_constrained_ok":true"#.utf8) }
        if settings.isForRestrictedSatellite { end += Array(#","restricted_satellite_ok":true"#.utf8) }
        self.end = end + label + Array("}}}".utf8)
        sharedSize = size
    }

    /// The member `fcm_options`, after a comma.
    private static func options(_ label: AnalyticsLabel, campaign: String) -> [UInt8] {
        var bytes = Array(#","fcm_options":{"analytics_label":"#.utf8)
        PushWords.append(label.text(campaign: campaign), to: &bytes)
        return bytes + [UInt8(ascii: "}")]
    }

    /// The bytes that remain for a telephone as `page` has it, escaped once.
    package var roomForTelephone: Int { Self.maximumSize - sharedSize }

    private static func escaped(_ text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        UpgradePayload.appendEscaped(text, to: &bytes)
        return bytes
    }

    private static let quote = [UInt8(ascii: "\"")]

    // MARK: One push

    /// The prefix, in the registry, of targets that are Firebase installation ids; no registration token begins with
    /// it, since the part before its first colon is an id of 22 characters. Google, 2026: `fid` takes the place of
    /// `token` (PROTOCOLS 2.2).
    static let installationPrefix = Array("fid:".utf8)

    /// Appends the key and value that name the target, without the first and last quotation mark.
    static func appendTarget(_ arena: [UInt8], _ token: Range<Int>, to bytes: inout [UInt8]) {
        let isInstallation =
            token.count > installationPrefix.count && arena[token.lowerBound] == UInt8(ascii: "f")
            && arena[token].starts(with: installationPrefix)
        bytes.append(contentsOf: isInstallation ? fidKey : tokenKey)
        bytes.append(contentsOf: arena[token.dropFirst(isInstallation ? installationPrefix.count : 0)])
    }

    private static let tokenKey = Array(#"token":""#.utf8)
    private static let fidKey = Array(#"fid":""#.utf8)

    /// Appends a telephone as `page` has it.
    ///
    /// - Parameter isPageInText: whether `page` is a JSON text in a JSON text, whose content is escaped twice.
    static func appendTelephone(_ arena: [UInt8], _ range: Range<Int>, isPageInText: Bool, to bytes: inout [UInt8]) {
        let start = bytes.count
        UpgradePayload.appendEscaped(arena, range, to: &bytes)
        // The second escaping only changes a text in which the first has put a backslash.
        guard isPageInText, bytes[start...].contains(UInt8(ascii: "\\")) else { return }
        let once = Array(bytes[start...])
        bytes.removeSubrange(start...)
        UpgradePayload.appendEscaped(once, to: &bytes)
    }

    /// Whether the bytes may stand between quotation marks as they are: the API lets no others in, but other programs write to
    /// the store too, and a quotation mark would let a token add fields of its own.
    static func isSendable(token: Range<Int>, of arena: [UInt8]) -> Bool {
        guard !token.isEmpty, token.count <= longestToken else { return false }
        precondition(token.lowerBound >= 0 && token.upperBound <= arena.count)
        return unsafe arena.withUnsafeBufferPointer { bytes in
            // No exit before the end, as in `APNsProvider.isSendable`: this lets the compiler take many bytes at once.
            var wrong: UInt8 = 0
            let text = unsafe UnsafeBufferPointer(rebasing: bytes[token])
            var place = 0
            while place < text.count {
                let byte = unsafe text[place]
                // From "!" to "~" is visible ASCII.
                let isInvisible: UInt8 = byte &- 0x21 > 0x5D ? 1 : 0
                let isQuote: UInt8 = byte == 0x22 ? 1 : 0
                let isBackslash: UInt8 = byte == 0x5C ? 1 : 0
                wrong |= isInvisible | isQuote | isBackslash
                place &+= 1
            }
            return wrong == 0
        }
    }

    /// Bytes; the API's own limit.
    private static let longestToken = 4096

    /// One whole body, for display.
    package func render(token: String, telephone: String, pushID: String) -> [UInt8] {
        let arena = Array(token.utf8) + Array(telephone.utf8)
        let split = token.utf8.count
        var bytes = start
        Self.appendTarget(arena, 0..<split, to: &bytes)
        bytes += beforeTelephone
        Self.appendTelephone(arena, split..<arena.count, isPageInText: isPageInText, to: &bytes)
        return bytes + afterTelephone + Array(pushID.utf8) + end
    }
}
