// SPDX-License-Identifier: Apache-2.0

/// The content of an error answer of FCM (google.rpc.Status over HTTP, https://google.aip.dev/193):
/// ```json
/// {"error": {"code": 404, "message": "…", "status": "NOT_FOUND", "details": [
///   {"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED"}]}}
/// ```
/// Read from the bytes, one pass: a tree costs more than the push (STYLE 5). The lane keeps the first 4 KiB of a body, so one
/// that breaks off gives the fields up to there. Anything else gives nothing, and the HTTP status decides.
struct FCMErrorBody: Hashable, Sendable {
    /// Whether this is FCM's answer to a message that it has taken: an object that reports no error, and whose `name`,
    /// if it has one, is a message's.
    var isGood = false
    /// "NOT_FOUND": the canonical code.
    var status: String?
    /// From the detail FcmError: "UNREGISTERED". It stands also where there is a `BadRequest` beside it.
    var errorCode: String?
    /// From the detail ErrorInfo: "SERVICE_DISABLED".
    var reason: String?
    /// Whether the text mentions the registration token, or the installation id.
    var namesToken = false
    /// Whether the detail BadRequest finds fault with the target.
    var violatesTarget = false
    /// Whether the detail BadRequest finds fault with anything else, or names no field.
    var violatesPayload = false

    init(_ body: [UInt8]) {
        var scan = ErrorScan(bytes: body)
        var found = FCMErrorBody()
        found.isGood = scan.isObject
        _ = scan.object { scan, key in
            // "projects/*/messages/{message_id}" (Google, `Message`).
            if key == "name" { return scan.string { if !$0.hasPrefix("projects/") { found.isGood = false } } }
            guard key == "error" else { return scan.skip() }
            found.isGood = false
            return scan.object { scan, key in
                switch key {
                case "status":
                    return scan.string { found.status = Self.word($0) }
                case "message":
                    return scan.string { found.namesToken = Self.speaksOfToken($0) }
                case "details":
                    return scan.array { Self.detail(&$0, &found) }
                default:
                    return scan.skip()
                }
            }
        }
        self = found
    }

    private init() {}

    private static func detail(_ scan: inout ErrorScan, _ found: inout FCMErrorBody) -> Bool {
        var type: String?
        var errorCode: String?
        var reason: String?
        var (target, payload) = (false, false)
        let isWhole = scan.object { scan, key in
            switch key {
            case "@type":
                return scan.string { type = $0 }
            case "errorCode":
                return scan.string { errorCode = word($0) }
            case "reason":
                return scan.string { reason = word($0) }
            case "fieldViolations":
                return scan.array { scan in
                    scan.object { scan, key in
                        guard key == "field" else { return scan.skip() }
                        return scan.string { field in
                            if field == "message.token" || field == "message.fid" {
                                target = true
                            } else {
                                payload = true
                            }
                        }
                    }
                }
            default:
                return scan.skip()
            }
        }
        // "type.googleapis.com/google.firebase.fcm.v1.FcmError".
        switch type?.split(separator: "/").last {
        case "google.firebase.fcm.v1.FcmError": found.errorCode = errorCode ?? found.errorCode
        case "google.rpc.ErrorInfo": found.reason = reason ?? found.reason
        case "google.rpc.BadRequest":
            if payload || !target { found.violatesPayload = true }
            found.violatesTarget = target
        default: break
        }
        return isWhole
    }

    /// Google's text for a bad token: "The registration token is not a valid FCM registration token".
    private static func speaksOfToken(_ text: String) -> Bool {
        let text = text.lowercased()
        return text.contains("registration token") || text.contains("installation id")
    }

    /// A code is a word of capitals; the longest known has 31.
    private static func word(_ text: String) -> String? {
        let isWord =
            (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 == 0x5F || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
        return isWord ? text : nil
    }
}
