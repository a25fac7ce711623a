// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
package import Requirements
package import UpgradeRules
package import WireFormat

/// The body of a bump: CONTRACT's `{"latest", "required", "downloadUrl", "message", "telephones"}`, in the webhook also
/// `app` and `platform`.
package enum BumpBody {
    package static let maximumMessage = BumpRules.longestMessage
    /// The most characters of an app's name.
    package static let maximumApp = 255

    /// A webhook's body, which names its app. It is read once, and trusted only after its signature was verified.
    package struct Webhook {
        private let fields: Result<BodyFields, BodyError>
        /// The app that the body names; nil where `bump` throws for it.
        package let app: AppKey?

        package init(_ bytes: [UInt8]) {
            var fields: BodyFields
            do {
                fields = try BodyFields(bytes)
            } catch {
                (self.fields, app) = (.failure(error), nil)
                return
            }
            let app = appName(&fields)
            let name = fields.requiredString("platform", example: "ios")
            let platform = name.flatMap(Platform.init(rawValue:))
            if let name, platform == nil {
                let names = Platform.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
                fields.refuse("platform", "\(names) is needed; got \(JSONValue.string(name).sight)")
            }
            self.fields = .success(fields)
            self.app = app.flatMap { app in platform.map { AppKey(app: app, platform: $0) } }
        }

        /// - Parameter schemes: the schemes beside https that the app's download URLs may have.
        package func bump(schemes: (AppKey) -> [String] = { _ in [] }) throws(BodyError) -> VersionBump {
            var fields = try fields.get()
            // A placeholder where the app is at fault: `finish` throws before it is used.
            let app = app ?? AppKey(app: "", platform: .ios)
            return try BumpBody.read(&fields, app: app, schemes: schemes(app))
        }
    }

    /// Reads the body of a request that names the app in its path.
    ///
    /// - Parameter more: reads additional fields of the body.
    package static func read(
        _ bytes: [UInt8], app: AppKey, schemes: [String] = [], more: (inout BodyFields) -> Void = { _ in }
    ) throws(BodyError) -> VersionBump {
        var fields = try BodyFields(bytes)
        more(&fields)
        return try read(&fields, app: app, schemes: schemes)
    }

    private static func appName(_ fields: inout BodyFields) -> String? {
        guard let name = fields.requiredString("app", example: "com.example.app") else { return nil }
        let length = name.unicodeScalars.count
        guard (1...maximumApp).contains(length) else {
            fields.refuse("app", "has 1 to \(maximumApp) characters; it had \(length)")
            return nil
        }
        return name
    }

    private static func read(
        _ fields: inout BodyFields, app: AppKey, schemes: [String]
    ) throws(BodyError) -> VersionBump {
        var bump = VersionBump(
            app: app,
            latest: fields.version("latest"),
            required: fields.version("required"),
            downloadURL: fields.string("downloadUrl", example: DownloadURL.example),
            message: fields.localizedText("message", example: "A new version is required.", limit: maximumMessage),
            telephones: fields.telephones("telephones"))
        bump.builds = builds(&fields)
        bump.blocked = blocked(&fields)
        bump.terms = RequirementTermChanges(&fields)
        let rules = BumpRules(platform: app.platform, schemes: schemes)
        // One fault is enough for a field and its elements.
        for fault in rules.faults(in: bump)
        where !fields.faults.contains(where: { $0.field == fault.field || $0.field.hasPrefix("\(fault.field)[") }) {
            fields.refuse(fault.field, fault.reason)
        }
        bump = rules.sent(bump)
        let confirmation = confirmation(&fields)
        let isUrgent = fields.bool("now")
        try fields.finish()
        if bump == VersionBump(app: app) {
            throw .fields([
                FieldFault(
                    "required",
                    "the body changes nothing; give at least one of latest, required, downloadUrl, message, "
                        + "telephones, builds, blocked, "
                        + RequirementField.allCases.map(\.name.description).joined(separator: ", "))
            ])
        }
        bump.confirmation = confirmation
        bump.isUrgent = isUrgent
        return bump
    }

    /// `true`, or each doubt as it was shown: `[{"reason": "implausible-rise", "version": "20.0.0"}]`.
    private static func confirmation(_ fields: inout BodyFields) -> ConfirmedDoubts {
        let needed =
            "true, or an array of what is confirmed, such as [{\"reason\": \"implausible-rise\", \"version\": \"20.0.0\"}], is needed"
        switch fields.take("confirm") {
        case nil, .bool(false)?: return .nothing
        case .bool(true)?: return .usual
        case .array(let elements)? where elements.count <= mostBlocked + 2:
            var doubts: Set<Doubt> = []
            for (index, element) in elements.enumerated() {
                let names = Set((element.object ?? []).map(\.name))
                guard names == ["reason", "version"], let version = element["version"]?.string,
                    let version = try? Version(version),
                    let reason = element["reason"]?.string.flatMap(Doubt.Reason.init)
                else {
                    fields.refuse("confirm[\(index)]", "\(needed); got \(element.sight)")
                    continue
                }
                doubts.insert(Doubt(reason, version))
            }
            return .named(doubts)
        case let value?:
            fields.refuse("confirm", "\(needed); got \(value.sight)")
            return .nothing
        }
    }

    /// The most versions that one bump blocks.
    package static let mostBlocked = BumpRules.mostBlocked

    /// `["2.1.5"]`: exact versions; a repeated one counts once.
    package static func blocked(_ fields: inout BodyFields) -> [Version] {
        guard let value = fields.take("blocked") else { return [] }
        guard case .array(let elements) = value, (1...mostBlocked).contains(elements.count) else {
            fields.refuse(
                "blocked", "an array of 1 to \(mostBlocked) versions is needed, such as [\"2.1.5\"]; got \(value.sight)"
            )
            return []
        }
        var versions: [Version] = []
        for (index, element) in elements.enumerated() {
            let field = "blocked[\(index)]"
            do {
                guard let text = element.string else {
                    fields.refuse(field, "a version is needed, such as \"2.1.5\"; got \(element.sight)")
                    continue
                }
                let version = try Version(text)
                if !versions.contains(version) { versions.append(version) }
            } catch {
                fields.refuse(field, "\(error)")
            }
        }
        return versions
    }

    /// `{"latest": 210, "required": 200}`: Android's version codes.
    private static func builds(_ fields: inout BodyFields) -> BuildNumbers {
        var builds = BuildNumbers()
        guard let value = fields.take("builds") else { return builds }
        guard case .object(let members) = value else {
            fields.refuse("builds", "an object is needed, such as {\"required\": 200}; got \(value.sight)")
            return builds
        }
        for member in members {
            let field = "builds.\(JSONValue.shortened(member.name))"
            guard member.name == "latest" || member.name == "required" else {
                fields.refuse(field, "is not a field here; the fields are latest, required")
                continue
            }
            if member.value == .null { continue }
            // JSON knows one kind of number: some libraries write 200 as 200.0.
            guard case .number(let text) = member.value,
                let code = Int64(text) ?? Double(text).flatMap(Int64.init(exactly:)), BuildNumbers.range.contains(code)
            else {
                fields.refuse(
                    field,
                    "a version code is needed, a whole number from 1 to \(BuildNumbers.range.upperBound); got "
                        + member.value.sight)
                continue
            }
            if member.name == "latest" { builds.latest = code } else { builds.required = code }
        }
        return builds
    }
}
