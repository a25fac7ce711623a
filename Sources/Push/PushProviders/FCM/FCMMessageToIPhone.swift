// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import UpgradeRules

/// The parts of a message to an iPhone, which FCM hands on to APNs: the payload there is the one that the relay itself would send, so
/// that the app reads `aps.alert` and `page` in the same places (Google, "REST Resource: projects.messages", ApnsConfig):
/// ```json
/// {"message":{"token":"…","apns":{"headers":{"apns-priority":"10",…},"payload":{"aps":{…},"page":{…}}},"data":{"pushId":"…"}}}
/// ```
/// The members of `data` come to the app beside `page`. FCM adds some of its own, which an app ignores.
struct FCMMessageToIPhone {
    /// Bytes of the payload that are left to FCM's own members: "gcm.message_id", "google.c.fid" and others.
    static let roomForFCM = 256

    let beforeTelephone: [UInt8]
    let afterTelephone: [UInt8]
    let end = Array(#""}"#.utf8)
    let sharedSize: Int

    init(_ payload: UpgradePayload, _ settings: FCMProvider.Settings.IPhones, expiresAt: Timestamp?) {
        // FCM sets apns-topic by the token, and apns-id for itself.
        var headers = #"","apns":{"headers":{"apns-push-type":"alert","apns-priority":"\#(settings.priority)""#
        if let expiresAt { headers += #","apns-expiration":"\#(max(expiresAt.seconds, 0))""# }
        var bytes = Array((headers + #","apns-collapse-id":""#).utf8)
        UpgradePayload.appendEscaped(settings.collapseID.utf8, to: &bytes)
        beforeTelephone = bytes + Array(#""},"payload":"#.utf8) + payload.beforeTelephone
        afterTelephone = payload.afterTelephone + Array(#"},"data":{"pushId":""#.utf8)
        sharedSize = payload.sharedSize + "pushId".utf8.count + PushID.length + Self.roomForFCM
    }
}
