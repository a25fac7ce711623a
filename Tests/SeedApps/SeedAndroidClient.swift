// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The same app on Android, as far as it hears about upgrades: SEEDS S2 in the shape that FCM carries, `data.page` a JSON text.
///
/// Written as the Kotlin receiver of etc/ANDROID.md was before a push said which version it requires, and shares no code with `UpgradeRules`.
package struct SeedAndroidClient: Sendable {
    /// What became of a push. The app itself stays silent; the reason is for the tests.
    package enum Reaction: Hashable, Sendable {
        case accepted(downloadURL: String)
        case dropped(Drop)
    }

    package enum Drop: Hashable, Sendable {
        /// No message of FCM's: the service would have refused it.
        case notAMessage
        case noPage
        case noUserLoggedIn
        case noUserTel
        case otherUser
        case otherType
        case noDownloadURL
        /// The push of this id was taken before.
        case repeated
    }

    /// The phone number of the logged-in user; nil when nobody is logged in.
    package var userTelephone: String?
    package var pushType = "mddy_needUpgrade"
    private var seen: Set<String> = []

    package init(userTelephone: String?, pushType: String = "mddy_needUpgrade") {
        self.userTelephone = userTelephone
        self.pushType = pushType
    }

    /// What FCM was given for this device.
    @discardableResult
    package mutating func receive(_ body: some Sequence<UInt8>) -> Reaction {
        guard let root = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any],
            let message = root["message"] as? [String: Any], let data = message["data"] as? [String: String]
        else { return .dropped(.notAMessage) }
        return receive(data: data)
    }

    /// `onMessageReceived`.
    package mutating func receive(data: [String: String]) -> Reaction {
        guard let text = data["page"],
            let page = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any]
        else { return .dropped(.noPage) }
        guard let userTelephone else { return .dropped(.noUserLoggedIn) }
        guard let userTel = SeedClient.string(page["userTel"]) else { return .dropped(.noUserTel) }
        // Kotlin's == on String: by UTF-16 code units, as NSString's.
        guard SeedClient.isEqual(userTel, userTelephone) else { return .dropped(.otherUser) }
        guard let type = SeedClient.string(page["type"]), SeedClient.isEqual(type, pushType) else {
            return .dropped(.otherType)
        }
        guard let url = SeedClient.string(page["downloadUrl"]), !url.isEmpty else { return .dropped(.noDownloadURL) }
        if let id = data["pushId"], !seen.insert(id).inserted { return .dropped(.repeated) }
        return .accepted(downloadURL: url)
    }
}
