// SPDX-License-Identifier: Apache-2.0
import UpgradeRules

/// The words of a push as FCM takes them, for the system to show: plain ones for every platform; the names of the app's own texts
/// and its sound only for Android (Google, "REST Resource: projects.messages", Notification and AndroidNotification):
/// ```json
/// {"notification":{"title":"…","body":"…"},
///  "android":{"notification":{"title_loc_key":"…","title_loc_args":["…"],"body_loc_key":"…","sound":"…"}}}
/// ```
struct FCMNotification {
    /// The object `notification`; nil where it would be empty.
    private(set) var texts: [UInt8]?
    /// The object `android.notification`; nil where it would be empty.
    private(set) var android: [UInt8]?
    /// Bytes of keys and values.
    private(set) var size = 0

    /// Shows nothing.
    init() {}

    init(_ words: PushWords) {
        var (texts, android) = (Members(), Members())
        if words.appTitle == nil, let title = words.title { texts.add("title", title) }
        if words.appBody == nil { texts.add("body", words.body) }
        for (name, text) in [("title", words.appTitle), ("body", words.appBody)] {
            guard let text else { continue }
            android.add("\(name)_loc_key", text.key)
            if !text.arguments.isEmpty { android.add("\(name)_loc_args", text.arguments) }
        }
        if let sound = words.sound { android.add("sound", sound) }
        self.texts = texts.object
        self.android = android.object
        size = texts.size + android.size
    }

    private struct Members {
        private var bytes: [UInt8] = []
        var size = 0

        var object: [UInt8]? { bytes.isEmpty ? nil : bytes + [UInt8(ascii: "}")] }

        mutating func add(_ name: String, _ text: String) {
            begin(name)
            PushWords.append(text, to: &bytes)
            size += text.utf8.count
        }

        mutating func add(_ name: String, _ texts: [String]) {
            begin(name)
            PushWords.append(texts, to: &bytes)
            size += texts.reduce(0) { $0 + $1.utf8.count }
        }

        private mutating func begin(_ name: String) {
            bytes.append(contentsOf: "\(bytes.isEmpty ? "{" : ",")\"\(name)\":".utf8)
            size += name.utf8.count
        }
    }
}
