// SPDX-License-Identifier: Apache-2.0

/// A push as an app receives it (SEEDS S2), before anyone has judged whether it is meant for this user.
///
/// From a notification: `UpgradePush(userInfo: userInfo)`. From a payload's bytes, with the platform's own decoder:
/// `try JSONDecoder().decode(UpgradePush.self, from: data)`. Fields of the wrong kind count as missing, as in the client.
public struct UpgradePush: Hashable, Sendable {
    /// `page.type`: which push it is; the name is per app.
    public let type: String?
    /// `page.userTel`: whom it is for.
    public let userTel: String?
    /// `page.downloadUrl`: where the new version is.
    public let downloadURL: String?

    /// Takes the values of `page`.
    public init(type: String?, userTel: String?, downloadURL: String?) {
        self.type = type
        self.userTel = userTel
        self.downloadURL = downloadURL
    }

    /// Takes a notification's dictionary; any other push gives one without fields.
    public init(userInfo: [AnyHashable: Any]) {
        let page = userInfo["page"] as? [AnyHashable: Any]
        func text(_ name: String) -> String? { page?[name].flatMap(WireText.init(value:))?.text }
        self.init(type: text("type"), userTel: text("userTel"), downloadURL: text("downloadUrl"))
    }

    /// What becomes of a push.
    public enum Verdict: Hashable, Sendable {
        /// The user must upgrade: goes into `UpgradePrompt` as `pushReceived`. Nothing is shown at once.
        case force(downloadURL: String)
        /// Not for this user, or no call to upgrade. Nothing is shown, ever.
        case dropped(Drop)
    }

    /// Why a push is dropped, in the order in which the client looks.
    public enum Drop: Hashable, Sendable {
        /// Nobody is logged in.
        case noUserLoggedIn
        /// The push names no telephone.
        case noTelephone
        /// The push is for another telephone: `TelephoneRule`, literally.
        case otherUser
        /// The push is something else.
        case otherType
        /// A prompt that leads nowhere is never shown.
        case noDownloadURL
    }

    /// Judges the push as the app of 2015 does.
    ///
    /// - Parameters:
    ///   - type: what this app calls the push, such as "mddy_needUpgrade".
    ///   - userTelephone: of the logged-in user; nil when nobody is.
    public func verdict(type: String, userTelephone: String?) -> Verdict {
        guard let userTelephone else { return .dropped(.noUserLoggedIn) }
        guard let userTel else { return .dropped(.noTelephone) }
        guard TelephoneRule.matches(userTel, userTelephone) else { return .dropped(.otherUser) }
        // The client compares both the same way: by code units.
        guard TelephoneRule.matches(self.type, type) else { return .dropped(.otherType) }
        guard let downloadURL, !downloadURL.isEmpty else { return .dropped(.noDownloadURL) }
        return .force(downloadURL: downloadURL)
    }
}

extension UpgradePush: Decodable {
    private enum Root: String, CodingKey { case page }
    private enum Page: String, CodingKey { case type, userTel, downloadUrl }

    /// Reads a payload.
    ///
    /// - Throws: what the decoder throws where the payload is no JSON object.
    public init(from decoder: any Decoder) throws {
        let root = try decoder.container(keyedBy: Root.self)
        let page = try? root.nestedContainer(keyedBy: Page.self, forKey: .page)
        func text(_ key: Page) -> String? { (try? page?.decodeIfPresent(WireText.self, forKey: key))?.text }
        self.init(type: text(.type), userTel: text(.userTel), downloadURL: text(.downloadUrl))
    }
}

extension WireText {
    /// Takes a value of a dictionary: a text, a number or a boolean; nil for anything else. On Apple's systems this takes
    /// NSString and NSNumber as well.
    public init?(value: Any) {
        switch value {
        case let text as String: self.init(text)
        case let number as Int64: self.init(number)
        case let number as Int: self.init(number)
        case let number as UInt64: self.init(number)
        case let number as Double: self.init(number)
        case let flag as Bool: self.init(flag ? 1 : 0)
        default: return nil
        }
    }
}
