// SPDX-License-Identifier: Apache-2.0

// An app that reads the document with these rules is told what its author meant: versions are compared as numbers, and a
// required update does not hide an optional one. What LaunchGate and Gandalf themselves make of it says `LaunchGateClient`.
extension LaunchGateDocument {
    /// Judges an installed version.
    ///
    /// | | verdict |
    /// |---|---|
    /// | the app has no download URL | `none`: a prompt that leads nowhere is never shown |
    /// | no section for the platform, or an installed version that is none | `none` |
    /// | below `minimumVersion` | `force` |
    /// | below `optionalVersion` | `remind` |
    /// | anything else | `none` |
    ///
    /// An object with an empty message, or whose version is none, counts as missing: it must not lock anyone out.
    ///
    /// - Parameters:
    ///   - platform: whose section counts.
    ///   - installed: on iOS CFBundleShortVersionString, on Android the version code.
    ///   - hasDownloadURL: whether the app can lead the user to the new version; the document holds no URL.
    public func verdict(platform: Platform, installed: Version?, hasDownloadURL: Bool) -> UpgradeVerdict {
        let section = self[platform]
        let required = section?.required.flatMap { Self.version($0.minimumVersion, $0.message) }
        let optional = section?.optional.flatMap { Self.version($0.optionalVersion, $0.message) }
        return UpgradeVerdict.judge(
            installed: installed, latest: optional, required: required, hasDownloadURL: hasDownloadURL)
    }

    private static func version(_ text: String, _ message: String) -> Version? {
        message.isEmpty ? nil : try? Version(text)
    }
}

extension LaunchGateDocument: Decodable {
    private enum Root: String, CodingKey { case ios, android }

    /// Reads a document, as LaunchGate does: where one field is missing or of another kind, all of it is refused, and the
    /// app goes on as if there were none.
    ///
    /// - Throws: what the decoder throws.
    public init(from decoder: any Decoder) throws {
        let root = try decoder.container(keyedBy: Root.self)
        self.init(
            ios: try root.decodeIfPresent(Section.self, forKey: .ios),
            android: try root.decodeIfPresent(Section.self, forKey: .android))
    }
}

extension LaunchGateDocument.Section: Decodable {
    private enum Part: String, CodingKey { case requiredUpdate, optionalUpdate, alert }
    private enum Field: String, CodingKey { case minimumVersion, optionalVersion, message, blocking }

    /// Reads one platform's section.
    ///
    /// - Throws: what the decoder throws where a field is missing or of another kind.
    public init(from decoder: any Decoder) throws {
        let parts = try decoder.container(keyedBy: Part.self)
        self.init()
        if parts.contains(.requiredUpdate) {
            let fields = try parts.nestedContainer(keyedBy: Field.self, forKey: .requiredUpdate)
            required = LaunchGateDocument.RequiredUpdate(
                minimumVersion: try fields.decode(String.self, forKey: .minimumVersion),
                message: try fields.decode(String.self, forKey: .message))
        }
        if parts.contains(.optionalUpdate) {
            let fields = try parts.nestedContainer(keyedBy: Field.self, forKey: .optionalUpdate)
            optional = LaunchGateDocument.OptionalUpdate(
                optionalVersion: try fields.decode(String.self, forKey: .optionalVersion),
                message: try fields.decode(String.self, forKey: .message))
        }
        if parts.contains(.alert) {
            let fields = try parts.nestedContainer(keyedBy: Field.self, forKey: .alert)
            alert = LaunchGateDocument.Alert(
                message: try fields.decode(String.self, forKey: .message),
                blocking: try fields.decode(Bool.self, forKey: .blocking))
        }
    }
}
