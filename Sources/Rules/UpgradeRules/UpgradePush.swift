// SPDX-License-Identifier: Apache-2.0

/// A push as an app receives it (SEEDS S2), before it is judged.
///
/// From a notification: `UpgradePush(userInfo: userInfo)`. From a payload's bytes, with the platform's own decoder:
/// `try JSONDecoder().decode(UpgradePush.self, from: data)`. Fields of the wrong kind count as missing, as in the client.
public struct UpgradePush: Hashable, Sendable {
    /// `page.type`: the kind of push; its name is per app.
    public let type: String?
    /// `page.userTel`: the telephone of the user that it is for.
    public let userTel: String?
    /// `page.downloadUrl`: the address of the new version.
    public let downloadURL: String?
    /// `page.required`: the push is not for apps that run this version or a newer one. Older relays do not send it.
    public let required: Version?
    /// `page.build`: the version code of `required`.
    public let build: Int64?
    /// `page.blocked`: the push is not for apps that run another version.
    public let blocked: Version?

    /// Takes the values of `page`.
    public init(
        type: String?, userTel: String?, downloadURL: String?, required: Version? = nil, build: Int64? = nil,
        blocked: Version? = nil
    ) {
        self.type = type
        self.userTel = userTel
        self.downloadURL = downloadURL
        self.required = required
        self.build = build
        self.blocked = blocked
    }

    /// Takes the texts of `page` by name; an invalid version or version code counts as missing.
    init(_ text: (String) -> String?) {
        self.init(
            type: text("type"), userTel: text("userTel"), downloadURL: text("downloadUrl"),
            required: text("required").flatMap { try? Version($0) }, build: text("build").flatMap { Int64($0) },
            blocked: text("blocked").flatMap { try? Version($0) })
    }

    /// Takes a notification's dictionary; any other push gives a value without fields.
    public init(userInfo: [AnyHashable: Any]) {
        let page = userInfo["page"] as? [AnyHashable: Any]
        self.init { page?[$0].flatMap(WireText.init(value:))?.text }
    }

    /// The verdict on a push.
    public enum Verdict: Hashable, Sendable {
        /// The user must upgrade: goes into `UpgradePrompt` as `pushReceived`. Nothing is shown at once.
        case force(downloadURL: String)
        /// Not for this user, or no call to upgrade. Nothing is ever shown.
        case dropped(Drop)
    }

    /// Why a push is dropped, in the order in which the client looks.
    public enum Drop: Hashable, Sendable {
        /// No user is logged in.
        case noUserLoggedIn
        /// The push has no telephone.
        case noTelephone
        /// The push is for another telephone: `TelephoneRule`, literally.
        case otherUser
        /// The push is something else.
        case otherType
        /// A prompt that leads nowhere is never shown.
        case noDownloadURL
        /// The app runs the required version, or a version other than the blocked one. The relay did not know: the store updates apps
        /// by itself, and a push may be held for days.
        case current
    }

    /// Judges the push as the app of 2015 does, and also drops a push that asks for no more than the app runs.
    ///
    /// - Parameters:
    ///   - type: this app's name for the push, such as "mddy_needUpgrade".
    ///   - userTelephone: the logged-in user's telephone; nil when no user is logged in.
    ///   - installed: the version that runs; nil where it cannot be compared.
    ///   - build: the installed version's code, on Android.
    public func verdict(
        type: String, userTelephone: String?, installed: Version?, build: Int64? = nil
    ) -> Verdict {
        guard let userTelephone else { return .dropped(.noUserLoggedIn) }
        guard let userTel else { return .dropped(.noTelephone) }
        guard TelephoneRule.matches(userTel, userTelephone) else { return .dropped(.otherUser) }
        // The client compares both the same way: by code units.
        guard TelephoneRule.matches(self.type, type) else { return .dropped(.otherType) }
        guard let downloadURL, !downloadURL.isEmpty else { return .dropped(.noDownloadURL) }
        return isMet(by: installed, build: build) ? .dropped(.current) : .force(downloadURL: downloadURL)
    }

    private func isMet(by installed: Version?, build: Int64?) -> Bool {
        if let blocked { return installed.map { $0 != blocked } ?? false }
        if let required, let installed, installed >= required { return true }
        if let needed = self.build, let build { return build >= needed }
        return false
    }
}

extension UpgradePush: Decodable {
    private enum Root: String, CodingKey { case page }

    /// Reads a payload.
    ///
    /// - Throws: the decoder's error where the payload is no JSON object.
    public init(from decoder: any Decoder) throws {
        let root = try decoder.container(keyedBy: Root.self)
        let page = try? root.decode(UpgradePage.self, forKey: .page)
        self = page?.push ?? UpgradePush(type: nil, userTel: nil, downloadURL: nil)
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
