// SPDX-License-Identifier: Apache-2.0

/// The `body` of a server's login answer (SEEDS S1).
///
/// The client reads `hasNewVersion` ("0": nothing to do), and if it is not "0" also `needUpgrade` ("1": forced, anything
/// else: a reminder) and `downloadUrl`. The other fields are for newer clients and for people.
public struct LoginAnswer: Hashable, Sendable, Codable {
    /// "1" when the user must be notified of a newer version, else "0". Never "1" without a `downloadUrl`.
    public let hasNewVersion: WireText
    /// "1" when the update is forced, else "0".
    public let needUpgrade: WireText
    /// The address of the new version.
    public let downloadUrl: String?
    /// The newest version, as it was written.
    public let latest: String?
    /// The oldest version that users may keep, as it was written.
    public let required: String?
    /// The app's own version if it is blocked: it must be replaced, whatever version is required.
    public let blocked: String?
    /// The message for the user.
    public let message: String?
    /// The moment from which an announced version will be required (RFC 3339).
    public let requiredFrom: String?
    /// The oldest OS version that `required` runs on, where the service ends for older ones.
    public let minimumOs: String?

    /// Judges `installed` and makes the answer. An empty download URL counts as none.
    public init(
        installed: Version?, latest: Version?, required: Version?, downloadURL: String?, message: String? = nil
    ) {
        let downloadURL = downloadURL.flatMap { $0.isEmpty ? nil : $0 }
        self.init(
            .judge(installed: installed, latest: latest, required: required, hasDownloadURL: downloadURL != nil),
            latest: latest, required: required, downloadURL: downloadURL, message: message)
    }

    /// Makes the answer from a verdict.
    package init(
        _ verdict: UpgradeVerdict, latest: Version?, required: Version?, downloadURL: String?, message: String?,
        requiredFrom: String? = nil, blocked: Version? = nil
    ) {
        hasNewVersion = WireText(verdict == .none ? 0 : 1)
        needUpgrade = WireText(verdict == .force ? 1 : 0)
        downloadUrl = downloadURL
        self.latest = latest?.text
        self.required = required?.text
        self.message = message
        self.requiredFrom = requiredFrom
        self.blocked = blocked?.text
        minimumOs = nil
    }

    /// Refuses a phone for which the required version does not exist: it gets no update and no link, and must not go on. A
    /// client of SEEDS S1 shows nothing, as `hasNewVersion` is "0"; the service behind it refuses the login by `needUpgrade`.
    package static func ended(_ target: UpgradeTarget, minimumOS: Version?, message: String?) -> LoginAnswer {
        LoginAnswer(ended: target, minimumOS, message)
    }

    private init(ended target: UpgradeTarget, _ minimumOS: Version?, _ message: String?) {
        (hasNewVersion, needUpgrade) = (WireText(0), WireText(1))
        (downloadUrl, latest, requiredFrom) = (nil, nil, nil)
        (required, blocked) = (target.required?.text, target.blocked?.text)
        self.message = message
        minimumOs = minimumOS?.text
    }

    /// The verdict as a client reads it.
    public var verdict: UpgradeVerdict {
        guard hasNewVersion != WireText("0"), downloadUrl?.isEmpty == false else { return .none }
        return needUpgrade == WireText("1") ? .force : .remind
    }
}
