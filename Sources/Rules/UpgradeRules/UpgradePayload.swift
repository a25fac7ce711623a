// SPDX-License-Identifier: Apache-2.0

/// The push that asks one user to upgrade, as the client reads it (SEEDS S2):
/// ```json
/// {"aps":{"alert":"…","sound":"…"},
///  "page":{"type":"…","userTel":"…","downloadUrl":"…","required":"2.0.0","build":200}}
/// ```
/// `alert` is a text, or a dictionary where the relay's configuration has a title or keys of the app's own texts.
/// `required` lets an app that already runs it drop the push: the registry is always older than the phone. Apps that do not know
/// the field ignore it. Where one version is blocked, its push has that version as `blocked` instead: an app that runs another one
/// drops it.
///
/// Only `userTel` differs from user to user. Everything else is rendered once, when the payload is made; for each device
/// its escaped telephone goes between the two constant pieces:
/// ```swift
/// let payload = UpgradePayload(
///     type: "needUpgrade", alert: "A new version is required.", downloadURL: url, required: version)
/// try payload.checked(longestTelephone: 64)
/// body.removeAll(keepingCapacity: true)
/// payload.append(userTelephone: rows.bytes, row.telephone.range, to: &body)
/// ```
public struct UpgradePayload: Hashable, Sendable {
    /// The most bytes that APNs takes, for anything but VoIP (PROTOCOLS 1.1).
    public static let maximumSize = 4096

    /// The app's name for the push, compared literally by the client, so `mddy_needUpgrade` is not `needUpgrade`.
    public let type: String
    /// The notification's words, and how loudly they are shown.
    package let words: PushWords
    /// The address of the new version; the client ignores a push without it.
    public let downloadURL: String
    /// The push is not for apps that run this version or a newer one; nil: it is for all.
    public let required: Version?
    /// The push is not for apps that run another version; nil: no version is blocked.
    public let blocked: Version?
    /// The version code of `required`, where it is known.
    public let build: Int64?

    /// The bytes of the object `page` up to and including the quotation mark that opens the telephone.
    public let pageBeforeTelephone: [UInt8]
    /// The bytes of the object `page` from the quotation mark that closes the telephone.
    public let pageAfterTelephone: [UInt8]
    /// All bytes up to and including the quotation mark that opens the telephone.
    public let beforeTelephone: [UInt8]
    /// All bytes from the quotation mark that closes the telephone.
    public let afterTelephone: [UInt8]

    /// Renders the part that all users share. Any text is allowed here; `checked(longestTelephone:)` decides whether it can be sent.
    public init(
        type: String, alert: String, downloadURL: String, sound: String? = nil, required: Version? = nil,
        build: Int64? = nil
    ) {
        self.init(
            type: type, words: PushWords(alert, sound: sound), downloadURL: downloadURL, required: required,
            build: build)
    }

    /// The same with all parts of a notification.
    package init(
        type: String, words: PushWords, downloadURL: String, required: Version? = nil, blocked: Version? = nil,
        build: Int64? = nil
    ) {
        self.type = type
        self.words = words
        self.downloadURL = downloadURL
        self.required = required
        self.blocked = blocked
        self.build = build

        var page = Array(#"{"type":""#.utf8)
        Self.appendEscaped(type.utf8, to: &page)
        page.append(contentsOf: #"","userTel":""#.utf8)
        pageBeforeTelephone = page

        page = Array(#"","downloadUrl":""#.utf8)
        Self.appendEscaped(downloadURL.utf8, to: &page)
        page.append(UInt8(ascii: "\""))
        for (name, version) in [("required", required), ("blocked", blocked)] {
            guard let version else { continue }
            page.append(contentsOf: ",\"\(name)\":\"".utf8)
            Self.appendEscaped(version.text.utf8, to: &page)
            page.append(UInt8(ascii: "\""))
        }
        if let build { page.append(contentsOf: #","build":\#(build)"#.utf8) }
        page.append(UInt8(ascii: "}"))
        pageAfterTelephone = page

        beforeTelephone = Array(#"{"aps":{"#.utf8) + words.aps + Array(#"},"page":"#.utf8) + pageBeforeTelephone
        afterTelephone = pageAfterTelephone + [UInt8(ascii: "}")]
    }

    /// The notification's text. Where the push names a text of the app's own, this one is for readers that cannot look it up.
    public var alert: String { words.body }
    /// A sound file of the app, or "default"; nil for silence.
    public var sound: String? { words.sound }

    // MARK: One user's payload

    /// Appends the payload for one user: the hot path, which allocates nothing once `body` has room.
    ///
    /// - Parameters:
    ///   - arena: UTF-8 texts, one after another.
    ///   - range: the place of the user's telephone, unescaped. Must lie inside the arena.
    ///   - body: the buffer that the payload is appended to.
    @inlinable
    public func append(userTelephone arena: [UInt8], _ range: Range<Int>, to body: inout [UInt8]) {
        body.append(contentsOf: beforeTelephone)
        Self.appendEscaped(arena, range, to: &body)
        body.append(contentsOf: afterTelephone)
    }

    /// The payload for one user.
    public func render(userTelephone: String) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(size(userTelephone: userTelephone))
        body.append(contentsOf: beforeTelephone)
        Self.appendEscaped(userTelephone.utf8, to: &body)
        body.append(contentsOf: afterTelephone)
        return body
    }

    // MARK: Size

    /// The bytes of the payload for one user.
    public func size(userTelephone: String) -> Int {
        sharedSize + Self.escapedSize(userTelephone.utf8)
    }

    /// The bytes that every user's payload has, without the telephone.
    public var sharedSize: Int { beforeTelephone.count + afterTelephone.count }

    /// The bytes that remain for an escaped telephone; negative when the texts alone are too large.
    public var roomForTelephone: Int { Self.maximumSize - sharedSize }

    /// The payload itself, if it can be sent and the clients will read it. Call this before anything is sent.
    ///
    /// - Parameter longestTelephone: the most bytes that any user's telephone takes in JSON. A telephone of n UTF-8 bytes
    ///   takes n when it holds no quotation mark, backslash, control character or U+FEFF, and never more than 6 n.
    /// - Throws: `PayloadError`.
    @discardableResult
    public func checked(longestTelephone: Int) throws(PayloadError) -> UpgradePayload {
        if type.isEmpty { throw .empty(field: "type") }
        if alert.isEmpty { throw .empty(field: "alert") }
        if downloadURL.isEmpty { throw .empty(field: "downloadUrl") }
        let size = sharedSize + longestTelephone
        guard size <= Self.maximumSize else { throw .tooLarge(size: size, limit: Self.maximumSize) }
        return self
    }
}
