// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The fields of a send request in FCM's API (PROTOCOLS 2.2), read as Google's front ends read JSON: unknown names are
/// refused, values must be of their type, null counts as absent, and names may be written in either way, `collapse_key` and
/// `collapseKey` (https://protobuf.dev/programming-guides/json/).
struct MessageSchema: Sendable {
    indirect enum Kind: Sendable {
        case text
        case flag
        case whole
        /// "3600s", "1.5s".
        case duration
        /// One of these words, in either case.
        case word(type: String, Set<String>)
        /// Names that the sender makes up, each with a text.
        case texts
        case list(Kind)
        case object(type: String, [String: Kind])
        /// A value that is not checked, such as an object of another platform.
        case anything
    }

    static let request = Kind.object(
        type: "google.firebase.fcm.v1.SendMessageRequest", ["message": message, "validate_only": .flag])

    private static let message = Kind.object(
        type: "google.firebase.fcm.v1.Message",
        [
            "name": .text, "data": .texts, "notification": notification, "android": android, "webpush": .anything,
            "apns": apns, "android_v2": .anything, "fcm_options": options, "token": .text, "fid": .text,
            "topic": .text, "condition": .text,
        ])

    private static let options = Kind.object(
        type: "google.firebase.fcm.v1.FcmOptions", ["analytics_label": .text])

    private static let notification = Kind.object(
        type: "google.firebase.fcm.v1.Notification", ["title": .text, "body": .text, "image": .text])

    private static let android = Kind.object(
        type: "google.firebase.fcm.v1.AndroidConfig",
        [
            "collapse_key": .text,
            "priority": .word(type: "google.firebase.fcm.v1.AndroidMessagePriority", ["NORMAL", "HIGH"]),
            "ttl": .duration, "restricted_package_name": .text, "data": .texts, "notification": androidNotification,
            "fcm_options": options, "direct_boot_ok": .flag, "bandwidth_constrained_ok": .flag,
            "restricted_satellite_ok": .flag,
        ])

    private static let apns = Kind.object(
        type: "google.firebase.fcm.v1.ApnsConfig",
        [
            "headers": .texts, "payload": .anything,
            "fcm_options": .object(
                type: "google.firebase.fcm.v1.ApnsFcmOptions", ["analytics_label": .text, "image": .text]),
            "live_activity_token": .text,
        ])

    private static let androidNotification = Kind.object(
        type: "google.firebase.fcm.v1.AndroidNotification",
        [
            "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text,
            "click_action": .text, "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text,
            "title_loc_args": .list(.text), "channel_id": .text, "ticker": .text, "sticky": .flag, "event_time": .text,
            "local_only": .flag, "notification_priority": .text, "default_sound": .flag,
            "default_vibrate_timings": .flag, "default_light_settings": .flag, "vibrate_timings": .list(.duration),
            "visibility": .text, "notification_count": .whole, "light_settings": .anything, "image": .text,
            "bypass_proxy_notification": .flag, "proxy": .text,
        ])

    /// The same value with every name in the form `snake_case`.
    static func read(_ json: JSONValue) throws(FieldFault) -> JSONValue {
        try read(json, as: request, at: "")
    }

    private static func read(_ value: JSONValue, as kind: Kind, at path: String) throws(FieldFault) -> JSONValue {
        func wrong(_ type: String, _ said: String? = nil) -> FieldFault {
            let held = said ?? scalar(value)
            let place = path.isEmpty ? "" : " at '\(path)'"
            return FieldFault(path, "Invalid value\(place) (\(type))" + (held.isEmpty ? "" : ", \(held)"))
        }
        switch kind {
        case .anything: return value
        case .text:
            guard value.string != nil else { throw wrong("TYPE_STRING") }
        case .flag:
            guard value.bool != nil || value.string == "true" || value.string == "false" else {
                throw wrong("TYPE_BOOL")
            }
        case .whole:
            guard value.integer.flatMap({ Int32(exactly: $0) }) != nil else { throw wrong("TYPE_INT32") }
        case .word(let type, let words):
            guard let word = value.string, words.contains(word.uppercased()) else {
                throw wrong("type.googleapis.com/\(type)")
            }
        case .duration:
            guard let text = value.string, seconds(text) != nil else {
                let name = path.split(separator: ".").last ?? ""
                throw wrong(
                    "type.googleapis.com/google.protobuf.Duration",
                    "Field '\(name)', Illegal duration format; duration must end with 's'")
            }
        case .texts:
            guard let members = value.object else { throw wrong("TYPE_MESSAGE") }
            for (index, member) in members.enumerated() {
                _ = try read(member.value, as: .text, at: "\(path)[\(index)].value")
            }
        case .list(let kind):
            guard let elements = value.array else { throw wrong("TYPE_REPEATED") }
            for (index, element) in elements.enumerated() { _ = try read(element, as: kind, at: "\(path)[\(index)]") }
        case .object(let type, let fields):
            guard let members = value.object else { throw wrong("type.googleapis.com/\(type)") }
            return .object(try read(members, as: fields, at: path))
        }
        return value
    }

    private static func read(
        _ members: [JSONMember], as fields: [String: Kind], at path: String
    ) throws(FieldFault) -> [JSONMember] {
        var known: [JSONMember] = []
        for member in members {
            let name = snakeCase(member.name)
            guard let kind = fields[name], !known.contains(where: { $0.name == name }) else {
                let place = path.isEmpty ? "" : " at '\(path)'"
                throw FieldFault(
                    path, "Invalid JSON payload received. Unknown name \"\(member.name)\"\(place): Cannot find field.")
            }
            guard member.value != .null else { continue }
            known.append(
                JSONMember(
                    name: name, value: try read(member.value, as: kind, at: path.isEmpty ? name : "\(path).\(name)")))
        }
        return known
    }

    /// The text of a scalar, as Google's errors repeat it.
    private static func scalar(_ value: JSONValue) -> String {
        switch value {
        case .object, .array, .null: ""
        case .string, .bool, .number: String(decoding: value.bytes(), as: UTF8.self)
        }
    }

    /// The name in the form `snake_case`: `restricted_package_name` for "restrictedPackageName".
    private static func snakeCase(_ name: String) -> String {
        var result = ""
        for character in name {
            if character.isASCII, character.isUppercase {
                result += "_" + character.lowercased()
            } else {
                result.append(character)
            }
        }
        return result
    }

    /// The full seconds of a duration: "rounded down to the nearest second". nil: it is not a duration.
    static func seconds(_ text: String) -> Int64? {
        guard text.hasSuffix("s") else { return nil }
        let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap({ Int64($0) }), !text.hasPrefix("+") else { return nil }
        guard parts.count == 2 else { return whole }
        let fraction = parts[1].utf8
        return (1...9).contains(fraction.count) && fraction.allSatisfy({ (0x30...0x39).contains($0) }) ? whole : nil
    }
}
