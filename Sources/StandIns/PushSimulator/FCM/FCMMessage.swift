// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// A message that meets all of FCM's rules: the parts that a simulator needs of it (PROTOCOLS 2.2). Pure.
struct FCMMessage: Equatable {
    /// The ways in which a request names its target.
    enum TargetKind: String, CaseIterable {
        case token, fid, topic, condition
    }

    enum Fault: Error, Equatable {
        /// Google's front end refuses it: the answer has no error code of FCM's.
        case unreadable(FieldFault)
        /// FCM refuses it, for its content.
        case refused(FieldFault)
        /// FCM refuses it, for its token.
        case badToken
    }

    let kind: TargetKind
    let target: String
    /// `validate_only`: no device gets a push.
    let isDryRun: Bool

    /// The most bytes of keys and values.
    static let largest = 4096
    static let largestToTopic = 2048
    /// Four weeks, in seconds.
    static let longestTimeToLive: Int64 = 2_419_200

    init(_ json: JSONValue) throws(Fault) {
        let request: JSONValue
        do throws(FieldFault) {
            request = try MessageSchema.read(json)
        } catch {
            throw .unreadable(error)
        }
        isDryRun = request["validate_only"].map { $0.bool ?? ($0.string == "true") } ?? false
        guard let message = request["message"] else { throw Self.refused("message", "The message is not set.") }
        let targets = TargetKind.allCases.filter { message[$0.rawValue] != nil }
        if targets.count > 1 {
            throw .unreadable(
                FieldFault(
                    "message",
                    "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set "
                        + "'\(targets[1].rawValue)'"))
        }
        guard let kind = targets.first, let target = message[kind.rawValue]?.string, !target.isEmpty else {
            throw Self.refused("message", "Recipient of the message is not set.")
        }
        self.kind = kind
        self.target = target
        try Self.check(message, kind)
        try Self.checkLabel(of: message)
        if kind == .token || kind == .fid, !Self.isRegistration(target) { throw .badToken }
    }

    private static func refused(_ field: String, _ description: String) -> Fault {
        .refused(FieldFault(field, description))
    }

    private static func check(_ message: JSONValue, _ kind: TargetKind) throws(Fault) {
        var size = 0
        // Both count, although FCM sends the data of `android`, if there is any, in place of the message's own.
        let android = message["android"]
        for (path, data) in [("message.data", message["data"]), ("message.android.data", android?["data"])] {
            for member in data?.object ?? [] {
                guard !isReserved(member.name) else { throw refused(path, "Invalid data payload key: \(member.name)") }
                size += member.name.utf8.count + (member.value.string?.utf8.count ?? 0)
            }
        }
        for member in (message["notification"]?.object ?? []) + (android?["notification"]?.object ?? []) {
            let values = member.value.array?.compactMap(\.string) ?? [member.value.string ?? ""]
            size += values.reduce(member.name.utf8.count) { $0 + $1.utf8.count }
        }
        // The payload counts too: it goes to APNs, which takes no more.
        if let payload = message.find(["apns", "payload"]) { size += payload.bytes().count }
        guard size <= (kind == .topic || kind == .condition ? largestToTopic : largest) else {
            throw refused("message", "Message is too big")
        }
        if let text = android?["ttl"]?.string, let ttl = MessageSchema.seconds(text),
            !(0...longestTimeToLive).contains(ttl)
        {
            throw refused(
                "message.android.ttl", "Invalid TTL \(text): it has to be from 0 to \(longestTimeToLive) seconds")
        }
    }

    /// Google, "Understanding message delivery": `^[a-zA-Z0-9-_.~%]{1,50}$`.
    private static func checkLabel(of message: JSONValue) throws(Fault) {
        for (path, object) in [("message", message), ("message.android", message["android"] ?? .null)] {
            guard let label = object.find(["fcm_options", "analytics_label"])?.string else { continue }
            guard label.wholeMatch(of: /[a-zA-Z0-9\-_.~%]{1,50}/) != nil else {
                throw refused("\(path).fcm_options.analytics_label", "Invalid analytics label: \(label)")
            }
        }
    }

    /// Whether Google reserves a key, "such as from, or gcm, or any value prefixed by google"; `message_type` is of the same
    /// kind. `collapse_key` and others "are also used by FCM but are allowed" (Google's page ErrorCode).
    static func isReserved(_ key: String) -> Bool {
        key == "from" || key == "message_type" || key == "gcm" || key.hasPrefix("gcm.") || key.hasPrefix("google")
    }

    /// Whether a text may be a registration token. The length is not documented; the characters are those of base64url, colon
    /// and dot.
    private static func isRegistration(_ token: String) -> Bool {
        token.utf8.count <= 4096
            && token.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
