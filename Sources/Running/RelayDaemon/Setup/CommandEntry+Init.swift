// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayStore
import Requirements
import Signing
package import Terminal
import Threading
import UpgradeRules

extension CommandEntry {
    /// Writes the first configuration, checks it, and prints the next steps.
    package static let initialize = CommandEntry("init") { arguments, context in
        let answers = try SetupQuestions(arguments: arguments, console: context.console).answers()
        let configuration = answers.configuration
        let files = SetupFiles(configuration: configuration, replaces: arguments.flag("force"))
        let key = try checkedKey(answers)
        try files.check(key: key)
        try files.write(key: key, secret: Array(WebhookSecret.made().utf8))
        var environment = context.environment
        if configuration.isOfService { environment["CREDENTIALS_DIRECTORY"] = configuration.secretsDirectory }
        let result = try check(
            ConfigurationFile.located(option: configuration.path, environment: [:]), environment: environment,
            CheckOptions(isOnline: arguments.flag("online")), context.console)
        context.console.write(nextSteps(files))
        return result
    }

    /// Returns the key, after a check that the answers make a valid configuration. Nothing is written before that.
    private static func checkedKey(_ answers: SetupQuestions.Answers) throws -> [UInt8] {
        let source = SecretSource.file(answers.keyFile)
        let draft = answers.configuration.text(key: source, hasWebhookSecret: false)
        let configuration = try ConfigurationFile.parse(Array(draft.utf8), path: answers.configuration.path)
        let faults = ConfigurationCheck(configuration: configuration, environment: [:]).runFiles().faults
        guard faults.isEmpty else { throw ConfigurationError(path: answers.configuration.path, faults: faults) }
        do {
            return try source.bytes(environment: [:])
        } catch {
            throw CommandFailure(.failed, error.problem, hint: error.hint)
        }
    }

    private static func nextSteps(_ files: SetupFiles) -> String {
        let configuration = files.configuration
        let app = "\(configuration.app.app) \(configuration.app.platform.rawValue)"
        var lines = [
            "", "\(configuration.path) is written.",
            "The secret that webhooks are signed with is in \(files.secretPath).",
        ]
        if files.needsUnit {
            lines.append("The unit hands the service its secrets by \(SetupFiles.unitPath).")
        }
        lines += ["", "Next:", ""]
        if configuration.isOfService {
            lines.append("  systemctl enable --now upgrade-relay")
        } else {
            lines += [
                "  export UPGRADE_RELAY_CONFIG=\(DisplayWidth.sanitised(configuration.path))",
                "  upgrade-relay serve &",
            ]
        }
        lines += [
            "  upgrade-relay devices import devices.csv --wait 30s     # app,platform,token,telephone,version",
            "  upgrade-relay version set \(app) --required 2.0.0       # your app's new version", "",
        ]
        return lines.joined(separator: "\n")
    }
}
