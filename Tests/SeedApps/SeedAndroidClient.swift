// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The same app on Android, as far as it hears about upgrades: SEEDS S2 in the shape that FCM carries, `data.page` a JSON text.
///
/// Written as the Kotlin of etc/ANDROID.md, and shares no code with `UpgradeRules`.
package struct SeedAndroidClient: Sendable {
    /// The outcome of a push. The app itself stays silent; the reason is for the tests.
    package enum Reaction: Hashable, Sendable {
        case accepted(downloadURL: String)
        case dropped(Drop)
    }

    package enum Drop: Hashable, Sendable {
        /// Not a message of FCM's: the service would have refused it.
        case notAMessage
        case noPage
        case noUserLoggedIn
        case noUserTel
        case otherUser
        case otherType
        case noDownloadURL
        /// The app is what the push requires, or newer.
        case current
        /// The push of this id was taken before.
        case repeated
    }

    /// The phone number of the logged-in user; nil when no user is logged in.
    package var userTelephone: String?
    package var pushType = "mddy_needUpgrade"
    /// The app's own version; nil: it is older than pushes that name the version they require.
    package var versionName: String?
    /// Kept over a restart of the app.
    package private(set) var upgradeURL: String?
    private var upgradeRequired = ""
    private var upgradeBlocked = ""
    private var seen: Set<String> = []

    package init(userTelephone: String?, pushType: String = "mddy_needUpgrade", versionName: String? = nil) {
        self.userTelephone = userTelephone
        self.pushType = pushType
        self.versionName = versionName
    }

    /// `App.onCreate`.
    package mutating func start(versionName: String) {
        self.versionName = versionName
        if meets(upgradeRequired) { upgradeURL = nil }
        if hasLeft(upgradeBlocked) { upgradeURL = nil }
    }

    /// The guide's `hasLeft`.
    private func hasLeft(_ blocked: String) -> Bool {
        guard let versionName else { return false }
        return !blocked.isEmpty && blocked != versionName
    }

    /// The guide's `meets`.
    private func meets(_ required: String) -> Bool {
        guard let versionName, !required.isEmpty else { return false }
        let has = versionName.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let needs = required.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        for place in 0..<max(has.count, needs.count) {
            let difference = (place < has.count ? has[place] : 0) - (place < needs.count ? needs[place] : 0)
            if difference != 0 { return difference > 0 }
        }
        return true
    }

    /// Takes the request body that FCM was given for this device.
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
        let required = SeedClient.string(page["required"]) ?? ""
        if meets(required) { return .dropped(.current) }
        let blocked = SeedClient.string(page["blocked"]) ?? ""
        if hasLeft(blocked) { return .dropped(.current) }
        if let id = data["pushId"], !seen.insert(id).inserted { return .dropped(.repeated) }
        (upgradeRequired, upgradeBlocked, upgradeURL) = (required, blocked, url)
        return .accepted(downloadURL: url)
    }
}
