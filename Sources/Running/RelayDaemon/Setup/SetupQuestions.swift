// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import RelayEngine
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
        let (service, keyFile) = try provider(on: platform).wiring.ask(self, on: platform)
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

    /// The provider beside the platform's own of which an option is given; else the platform's own.
    private func provider(on platform: Platform) -> ProviderName {
        ProviderName.all(on: platform).dropFirst().first {
            $0.wiring.setupOptions.contains { arguments.value($0) != nil }
        } ?? .own(of: platform)
    }

    /// Refuses the options that are another provider's alone.
    func refuseOptions(ofOthersThan provider: ProviderName, on platform: Platform, _ why: String) throws {
        for other in ProviderName.allCases where other != provider {
            for option in other.wiring.setupOptions where arguments.value(option) != nil {
                throw UsageError("--\(option) does not go with --platform \(platform.rawValue): \(why)")
            }
        }
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
    func keyPath(_ option: String, _ question: String) throws -> String {
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

    /// - Parameter usual: the answer for an empty line, and where there is no terminal to ask at.
    func answer(_ option: String, _ question: String, usual: String? = nil) throws -> String {
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

    /// Makes a path absolute, because the service runs in another folder.
    private static func absolute(_ path: String) throws -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let here = SetupFiles.currentDirectory else {
            throw UsageError("\(path): the folder that this is in is gone; name the whole path")
        }
        return path == "." ? here : here + "/" + path
    }
}
