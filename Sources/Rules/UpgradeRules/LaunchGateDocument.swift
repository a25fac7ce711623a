// SPDX-License-Identifier: Apache-2.0

/// The one JSON file that LaunchGate (iOS) and Gandalf (Android) fetch at launch (SEEDS S5):
/// ```json
/// { "ios":     { "requiredUpdate": { "minimumVersion": "1.1", "message": "…" },
///                "optionalUpdate": { "optionalVersion": "1.2", "message": "…" },
///                "alert":          { "message": "…", "blocking": true } },
///   "android": { "requiredUpdate": { "minimumVersion": "9", "message": "…" } } }
/// ```
/// Versions are texts here, not `Version`: LaunchGate compares them as strings, so their spelling matters. There is no download
/// URL: the app has it compiled in. `LaunchGateClient` has the clients' behaviour.
///
/// Decoded as LaunchGate decodes it: where one field is missing or of another kind, the whole document is refused, and the
/// app goes on as if there were none.
public struct LaunchGateDocument: Hashable, Sendable, Decodable {
    /// For LaunchGate, which drops the whole file where this is missing.
    public var ios: Section?
    /// For Gandalf, which fails where this is missing.
    public var android: Section?

    /// A document of the two sections; nil leaves one out.
    public init(ios: Section? = nil, android: Section? = nil) {
        self.ios = ios
        self.android = android
    }

    /// The section of a platform.
    public subscript(platform: Platform) -> Section? {
        get {
            switch platform {
            case .ios: ios
            case .android: android
            }
        }
        set {
            switch platform {
            case .ios: ios = newValue
            case .android: android = newValue
            }
        }
    }

    /// One platform's section; each part may be missing.
    public struct Section: Hashable, Sendable, Decodable {
        /// Users below its version cannot go on.
        public var required: RequiredUpdate?
        /// Users below its version are reminded.
        public var optional: OptionalUpdate?
        /// A message for everyone.
        public var alert: Alert?

        /// Parts that are not given are left out.
        public init(required: RequiredUpdate? = nil, optional: OptionalUpdate? = nil, alert: Alert? = nil) {
            self.required = required
            self.optional = optional
            self.alert = alert
        }

        private enum CodingKeys: String, CodingKey {
            case required = "requiredUpdate"
            case optional = "optionalUpdate"
            case alert
        }
    }

    /// `requiredUpdate`: a user below it cannot go on.
    public struct RequiredUpdate: Hashable, Sendable, Decodable {
        /// On Android an integer, compared with the version code.
        public var minimumVersion: String
        /// The text that the user reads; must not be empty, or the client drops the object.
        public var message: String

        /// A minimum, and the message for users below it.
        public init(minimumVersion: String, message: String) {
            self.minimumVersion = minimumVersion
            self.message = message
        }
    }

    /// `optionalUpdate`: shown once per version to users below it.
    public struct OptionalUpdate: Hashable, Sendable, Decodable {
        /// On Android an integer, compared with the version code.
        public var optionalVersion: String
        /// The text that the user reads; must not be empty, or the client drops the object.
        public var message: String

        /// A version, and the message for users below it.
        public init(optionalVersion: String, message: String) {
            self.optionalVersion = optionalVersion
            self.message = message
        }
    }

    /// `alert`: shown once per message, or, if `blocking`, at every launch, with no way past it.
    public struct Alert: Hashable, Sendable, Decodable {
        /// The text that the user reads; must not be empty, or the client drops the object.
        public var message: String
        /// Whether the app is locked until the alert is removed.
        public var blocking: Bool

        /// A message for everyone.
        public init(message: String, blocking: Bool) {
            self.message = message
            self.blocking = blocking
        }
    }
}

// MARK: JSON

extension LaunchGateDocument {
    /// The document's bytes on the wire, UTF-8. Equal documents have equal bytes.
    public func rendered() -> [UInt8] { JSONObject.render([("ios", ios?.json), ("android", android?.json)]) }
}

extension LaunchGateDocument.Section {
    fileprivate var json: [UInt8] {
        let required = required.map {
            [("minimumVersion", JSONObject.text($0.minimumVersion)), ("message", JSONObject.text($0.message))]
        }
        let optional = optional.map {
            [("optionalVersion", JSONObject.text($0.optionalVersion)), ("message", JSONObject.text($0.message))]
        }
        let alert = alert.map {
            [("message", JSONObject.text($0.message)), ("blocking", Array(String($0.blocking).utf8))]
        }
        return JSONObject.render([
            ("requiredUpdate", required.map(JSONObject.render)), ("optionalUpdate", optional.map(JSONObject.render)),
            ("alert", alert.map(JSONObject.render)),
        ])
    }
}

/// The small part of JSON that the document needs.
private enum JSONObject {
    /// Leaves out members that are nil.
    static func render(_ members: [(name: String, value: [UInt8]?)]) -> [UInt8] {
        var bytes = [UInt8(ascii: "{")]
        for (name, value) in members {
            guard let value else { continue }
            if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: "\"\(name)\":".utf8)
            bytes.append(contentsOf: value)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    static func text(_ text: String) -> [UInt8] {
        var bytes = [UInt8(ascii: "\"")]
        UpgradePayload.appendEscaped(text.utf8, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
        return bytes
    }
}
