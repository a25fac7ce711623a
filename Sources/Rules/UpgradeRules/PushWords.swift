// SPDX-License-Identifier: Apache-2.0

/// The words that a phone shows for a push, and how loudly (Apple, "Generating a remote notification", tables 1 and 2).
///
/// A plain text without a title is sent as `"alert":"…"`, since an app may read it as a text. Anything more is a dictionary.
package struct PushWords: Hashable, Sendable {
    /// A text of the app's own, in the phone's language: "The key for a localized message string", and "replacement values for
    /// variables in your message text".
    package struct AppText: Hashable, Sendable {
        package var key: String
        package var arguments: [String]

        package init(key: String, arguments: [String] = []) {
            self.key = key
            self.arguments = arguments
        }
    }

    /// Apple's fourth level, "critical", is not here: "Critical alerts require a special entitlement issued by Apple", and
    /// ignore the mute switch. No version of an app is worth that.
    package enum InterruptionLevel: String, CaseIterable, Sendable {
        /// Into the list of notifications: no sound, and the screen stays dark.
        case passive
        /// The same as no level.
        case active
        /// Breaks through Focus and the summary, where the app has the capability and the user allows it.
        case timeSensitive = "time-sensitive"
    }

    /// The text. Where `appBody` is set, this is for readers that cannot look up the app's own text, such as the launch
    /// document.
    package var body: String
    /// Takes the place of `body`.
    package var appBody: AppText?
    package var title: String?
    /// Takes the place of `title`.
    package var appTitle: AppText?
    /// A sound file of the app, or "default"; nil for silence.
    package var sound: String?
    package var interruptionLevel: InterruptionLevel?
    /// Notifications with the same id are grouped on the phone.
    package var threadID: String?

    package init(_ body: String, sound: String? = nil) {
        self.body = body
        self.sound = sound
    }

    /// Whether the text alone is the whole notification.
    package var isPlain: Bool { title == nil && appTitle == nil && appBody == nil }

    /// The same words, with a message for this one version in place of the body.
    package func saying(_ message: String?) -> PushWords {
        guard let message else { return self }
        var words = self
        words.body = message
        words.appBody = nil
        return words
    }

    // MARK: In a payload

    /// The members of `aps`, without its braces.
    var aps: [UInt8] {
        var bytes = Array(#""alert":"#.utf8)
        if isPlain {
            Self.append(body, to: &bytes)
        } else {
            bytes.append(UInt8(ascii: "{"))
            Self.append(title, "title", or: appTitle, "title-loc", to: &bytes)
            if title != nil || appTitle != nil { bytes.append(UInt8(ascii: ",")) }
            Self.append(body, "body", or: appBody, "loc", to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        for (name, value) in [
            ("sound", sound), ("interruption-level", interruptionLevel?.rawValue), ("thread-id", threadID),
        ] {
            guard let value else { continue }
            bytes.append(contentsOf: ",\"\(name)\":".utf8)
            Self.append(value, to: &bytes)
        }
        return bytes
    }

    /// Appends the members of `alert` for one of its two texts.
    private static func append(
        _ text: String?, _ name: String, or app: AppText?, _ prefix: String, to bytes: inout [UInt8]
    ) {
        if let app {
            bytes.append(contentsOf: "\"\(prefix)-key\":".utf8)
            append(app.key, to: &bytes)
            guard !app.arguments.isEmpty else { return }
            bytes.append(contentsOf: ",\"\(prefix)-args\":".utf8)
            append(app.arguments, to: &bytes)
        } else if let text {
            bytes.append(contentsOf: "\"\(name)\":".utf8)
            append(text, to: &bytes)
        }
    }

    /// Appends a JSON string.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        UpgradePayload.appendEscaped(text.utf8, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a JSON array of strings.
    package static func append(_ texts: [String], to bytes: inout [UInt8]) {
        for (place, text) in texts.enumerated() {
            bytes.append(UInt8(ascii: place == 0 ? "[" : ","))
            append(text, to: &bytes)
        }
        bytes.append(contentsOf: (texts.isEmpty ? "[]" : "]").utf8)
    }
}
