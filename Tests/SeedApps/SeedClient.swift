// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The taxi app of 2015, as far as it hears about upgrades (SEEDS S1, S2).
///
/// It is written from the app's own description and shares no code with `UpgradeRules`, so that a mistake there cannot
/// hide here.
package struct SeedClient: Sendable {
    /// The app's reaction after a login or at a core action.
    package enum Prompt: Hashable, Sendable {
        case none
        /// The user may decline.
        case remind(downloadURL: String)
        /// One button, shown again at each return to the foreground.
        case force(downloadURL: String)
    }

    /// The outcome of a push. The app itself stays silent; the reason is for the tests.
    package enum Reaction: Hashable, Sendable {
        case accepted(alert: String, downloadURL: String)
        case dropped(Drop)
    }

    /// Why a push was dropped.
    package enum Drop: Hashable, Sendable {
        case notJSON
        case noAlert
        case noPage
        case noUserLoggedIn
        case noUserTel
        case otherUser
        case otherType
        case noDownloadURL
    }

    /// The phone number of the logged-in user; nil when no user is logged in.
    package var userTelephone: String?
    /// The value that `page.type` must have: the name is per app.
    package var pushType = "mddy_needUpgrade"

    /// `g_needUpgrade`: raised by a push, read at the next core action.
    package private(set) var needUpgrade = false
    package private(set) var downloadURL: String?

    package init(userTelephone: String?, pushType: String = "mddy_needUpgrade") {
        self.userTelephone = userTelephone
        self.pushType = pushType
    }

    // MARK: S2, the push

    /// The app's receive handler.
    @discardableResult
    package mutating func receive(_ payload: some Sequence<UInt8>) -> Reaction {
        let reaction = judge(payload)
        if case .accepted(_, let downloadURL) = reaction {
            self.downloadURL = downloadURL
            needUpgrade = true
        }
        return reaction
    }

    /// The prompt when the user sends an order. Nothing pops up before.
    package func coreAction() -> Prompt {
        guard needUpgrade, let downloadURL else { return .none }
        return .force(downloadURL: downloadURL)
    }

    private func judge(_ payload: some Sequence<UInt8>) -> Reaction {
        guard let root = Self.object(payload) else { return .dropped(.notJSON) }
        guard let aps = root["aps"] as? [String: Any], let alert = Self.string(aps["alert"]) else {
            return .dropped(.noAlert)
        }
        guard let page = root["page"] as? [String: Any] else { return .dropped(.noPage) }
        guard let userTelephone else { return .dropped(.noUserLoggedIn) }
        guard let userTel = Self.string(page["userTel"]) else { return .dropped(.noUserTel) }
        guard Self.isEqual(userTel, userTelephone) else { return .dropped(.otherUser) }
        guard let type = Self.string(page["type"]), Self.isEqual(type, pushType) else { return .dropped(.otherType) }
        guard let url = Self.string(page["downloadUrl"]), !url.isEmpty else { return .dropped(.noDownloadURL) }
        return .accepted(alert: alert, downloadURL: url)
    }

    // MARK: S1, the login

    /// Reads a login answer: the whole document, with the fields inside `body`.
    package func login(_ answer: some Sequence<UInt8>) -> Prompt {
        guard let body = Self.object(answer)?["body"] as? [String: Any],
            let hasNewVersion = Self.string(body["hasNewVersion"]), !Self.isEqual(hasNewVersion, "0"),
            let url = Self.string(body["downloadUrl"]), !url.isEmpty
        else { return .none }
        if let forced = Self.string(body["needUpgrade"]), Self.isEqual(forced, "1") {
            return .force(downloadURL: url)
        }
        return .remind(downloadURL: url)
    }

    // MARK: Objective-C's behaviour

    private static func object(_ bytes: some Sequence<UInt8>) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any]
    }

    /// The app's to-string conversion: a string is itself, a number its `stringValue`, everything else is nil.
    package static func string(_ value: Any?) -> String? {
        switch value {
        case let text as String: text
        // Apple's gives "1" for 1.0, the one on Linux "1.0".
        case let number as NSNumber: number.stringValue.replacing(/\.0$/, with: "")
        default: nil
        }
    }

    /// `-[NSString isEqualToString:]`: literal, by UTF-16 code units.
    package static func isEqual(_ left: String, _ right: String) -> Bool {
        Array(left.utf16) == Array(right.utf16)
    }
}
