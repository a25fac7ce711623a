// SPDX-License-Identifier: Apache-2.0
import Foundation

/// LaunchGate for iOS as far as it decides (SEEDS S5). Written from its description; shares no code with `UpgradeRules`.
struct LaunchGateReplica {
    enum Dialog: Hashable {
        case requiredUpdate(String)
        case optionalUpdate(String)
        case alert(String, blocking: Bool)
    }

    /// CFBundleShortVersionString.
    var appVersion: String
    private(set) var rememberedVersion: String?
    private(set) var rememberedAlert: String?

    init(appVersion: String) {
        self.appVersion = appVersion
    }

    /// One launch: fetches nothing, shows what the file asks for, and remembers it.
    mutating func launch(_ file: [UInt8]) -> Dialog? {
        guard let configuration = Configuration(file) else { return nil }
        let dialog = dialog(for: configuration)
        switch dialog {
        case .optionalUpdate: rememberedVersion = configuration.optional?.version
        case .alert(let message, blocking: false): rememberedAlert = message
        default: break
        }
        return dialog
    }

    private func dialog(for configuration: Configuration) -> Dialog? {
        if let required = configuration.required {
            return appVersion < required.version ? .requiredUpdate(required.message) : nil
        } else if let optional = configuration.optional {
            guard optional.version != rememberedVersion else { return nil }
            return appVersion < optional.version ? .optionalUpdate(optional.message) : nil
        } else if let alert = configuration.alert {
            guard alert.blocking || alert.message != rememberedAlert else { return nil }
            return .alert(alert.message, blocking: alert.blocking)
        }
        return nil
    }

    /// The parser: nil drops the whole file.
    private struct Configuration {
        typealias Update = (version: String, message: String)
        var required: Update?
        var optional: Update?
        var alert: (message: String, blocking: Bool)?

        init?(_ file: [UInt8]) {
            guard let root = (try? JSONSerialization.jsonObject(with: Data(file))) as? [String: Any],
                let ios = root["ios"] as? [String: Any]
            else { return nil }
            if let json = ios["alert"] as? [String: Any] {
                guard let message = json["message"] as? String, let blocking = json["blocking"] as? Bool else {
                    return nil
                }
                alert = message.isEmpty ? nil : (message, blocking)
            }
            if let json = ios["optionalUpdate"] as? [String: Any] {
                guard let version = json["optionalVersion"] as? String, let message = json["message"] as? String else {
                    return nil
                }
                optional = version.isEmpty || message.isEmpty ? nil : (version, message)
            }
            if let json = ios["requiredUpdate"] as? [String: Any] {
                guard let version = json["minimumVersion"] as? String, let message = json["message"] as? String else {
                    return nil
                }
                required = version.isEmpty || message.isEmpty ? nil : (version, message)
            }
        }
    }
}

/// Gandalf for Android as far as it decides (SEEDS S5). Written from its description.
struct GandalfReplica {
    typealias Dialog = LaunchGateReplica.Dialog

    var versionCode: Int32
    private(set) var rememberedVersion: String?
    private(set) var rememberedAlert: String?

    init(versionCode: Int32) {
        self.versionCode = versionCode
    }

    private struct NumberFormatException: Error {}

    /// One launch; an error makes Gandalf go on as if there were no file.
    mutating func launch(_ file: [UInt8]) -> Dialog? {
        guard let root = (try? JSONSerialization.jsonObject(with: Data(file))) as? [String: Any],
            let android = root["android"] as? [String: Any], let dialog = try? dialog(for: android)
        else { return nil }
        switch dialog {
        case .optionalUpdate:
            rememberedVersion = (android["optionalUpdate"] as? [String: Any])?["optionalVersion"] as? String
        case .alert(let message, blocking: false): rememberedAlert = message
        default: break
        }
        return dialog
    }

    private func dialog(for android: [String: Any]) throws -> Dialog? {
        if let required = android["requiredUpdate"] as? [String: Any],
            let version = required["minimumVersion"] as? String, !version.isEmpty,
            try versionCode < Self.integer(version)
        {
            return .requiredUpdate(required["message"] as? String ?? "")
        }
        if let alert = android["alert"] as? [String: Any], let message = alert["message"] as? String, !message.isEmpty {
            let blocking = alert["blocking"] as? Bool ?? false
            if blocking || message != rememberedAlert { return .alert(message, blocking: blocking) }
        }
        if let optional = android["optionalUpdate"] as? [String: Any],
            let version = optional["optionalVersion"] as? String, !version.isEmpty, version != rememberedVersion,
            try versionCode < Self.integer(version)
        {
            return .optionalUpdate(optional["message"] as? String ?? "")
        }
        return nil
    }

    /// java.lang.Integer.valueOf.
    private static func integer(_ text: String) throws -> Int32 {
        guard let number = Int32(text) else { throw NumberFormatException() }
        return number
    }
}
