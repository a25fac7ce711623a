// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import RelayStore
import Requirements
import Terminal
import Threading
import UpgradeRules

/// The answers that `init` needs: from its options, and for missing ones from the person at the terminal.
struct SetupQuestions {
    let arguments: ParsedArguments
    let console: Console

    struct Answers {
        var configuration: FirstConfiguration
        /// The file with the push service's key.
        var keyFile: String
    }

    /// - Throws: `UsageError` where an option is missing and there is no terminal to ask at, or options contradict each
    ///   other.
    func answers() throws -> Answers {
        let name = try answer("app", "The app's bundle id, or its package name")
        let platform = try platform()
        let app = AppKey(app: name, platform: platform)
        let keyFile: String
        let service: FirstConfiguration.Service
        switch platform {
        case .ios where arguments.value("service-account") != nil:
            for option in ["key", "key-id", "team-id"] {
                try refuse(
                    option, on: platform, "FCM pushes with the service account: one of --key and --service-account")
            }
            keyFile = try keyPath("service-account", "The JSON file with the service account's key for FCM")
            service = .fcm
        case .ios:
            keyFile = try keyPath("key", "The .p8 file with Apple's key for pushes")
            // Apple puts the key's id in the file's name, so a mistyped path would be reported as a missing id.
            if arguments.value("key-id") == nil, !FileProbe.exists(keyFile) {
                throw UsageError("--key: there is no file \(DisplayWidth.sanitised(keyFile))")
            }
            let keyID = try answer("key-id", "The key's id, ten characters", usual: Self.keyID(in: keyFile))
            service = .apns(teamID: try answer("team-id", "The team's id, ten characters"), keyID: keyID)
        case .android:
            for option in ["key", "key-id", "team-id"] {
                try refuse(option, on: platform, "android pushes with a service account: --service-account")
            }
            keyFile = try keyPath("service-account", "The JSON file with the service account's key for FCM")
            service = .fcm
        }
        let url = try answer("download-url", "Where users get the new version (https://…)")
        return Answers(
            configuration: FirstConfiguration(
                app: app, downloadURL: url, service: service, arrival: try arrival(platform),
                directory: try directory, server: arguments.value("server"),
                trustedCertificates: try arguments.value("trusted-certificates").map(Self.absolute)),
            keyFile: try Self.absolute(keyFile))
    }

    /// The folder of the configuration and its files.
    var directory: String {
        get throws {
            if let chosen = arguments.value("directory") { return try Self.absolute(chosen) }
            return FileProbe.directory(of: RelayConfiguration.defaultPath)
        }
    }

    private func platform() throws -> Platform {
        let text = try answer("platform", "The platform, ios or android", usual: "ios")
        guard let platform = Platform(rawValue: text.lowercased()) else {
            throw UsageError("--platform: \"\(text)\" is not a platform; ios, android")
        }
        return platform
    }

    private func arrival(_ platform: Platform) throws -> FirstConfiguration.Arrival {
        let choices = FirstConfiguration.Arrival.allCases.filter { $0 != .store || platform == .ios }
        let words = choices.map(\.rawValue).joined(separator: ", ")
        let text = try answer("versions", "How new versions arrive: \(words)", usual: "webhook")
        guard let arrival = choices.first(where: { $0.rawValue == text }) else {
            throw UsageError(
                text == "store"
                    ? "--versions: Google Play is asked with a key of its own; take webhook or command, and see SOURCES.md"
                    : "--versions: \"\(text)\" is not one of \(words)")
        }
        return arrival
    }

    /// The absolute path of a key's file; "~" is the person's home, as in a shell. At a terminal it is asked for until the
    /// file exists.
    private func keyPath(_ option: String, _ question: String) throws -> String {
        while true {
            var path = try answer(option, question)
            if path.hasPrefix("~/"), let home = unsafe getenv("HOME") {
                path = unsafe String(cString: home) + path.dropFirst(1)
            }
            let absolute = try Self.absolute(path)
            if arguments.value(option) != nil || FileProbe.exists(absolute) { return absolute }
            console.writeError("there is no file \(DisplayWidth.sanitised(absolute))\n")
        }
    }

    private func refuse(_ option: String, on platform: Platform, _ why: String) throws {
        guard arguments.value(option) != nil else { return }
        throw UsageError("--\(option) does not go with --platform \(platform.rawValue): \(why)")
    }

    /// - Parameter usual: the answer for an empty line, and where there is no terminal to ask at.
    private func answer(_ option: String, _ question: String, usual: String? = nil) throws -> String {
        if let given = arguments.value(option) { return given }
        guard console.canAsk else {
            if let usual { return usual }
            throw UsageError("--\(option) is needed, as there is no terminal to ask at")
        }
        while true {
            guard let typed = console.answer(to: question, usual: usual) else {
                throw CommandFailure(.failed, "nothing was written: the questions were not answered")
            }
            if !typed.isEmpty { return typed }
        }
    }

    /// Apple names the file after the key: AuthKey_ABC123DEFG.p8.
    static func keyID(in path: String) -> String? {
        guard let name = path.split(separator: "/").last, name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else {
            return nil
        }
        let id = name.dropFirst("AuthKey_".count).dropLast(".p8".count)
        return id.utf8.count == 10 ? String(id) : nil
    }

    /// Makes a path absolute, because the service runs in another folder.
    private static func absolute(_ path: String) throws -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let here = SetupFiles.currentDirectory else {
            throw UsageError("\(path): the folder that this is in is gone; name the whole path")
        }
        return path == "." ? here : here + "/" + path
    }
}
