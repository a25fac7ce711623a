// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayEngine
import RelayStore
import Requirements
import Signing
import StoreDrivers
package import Terminal
import UpgradeRules
import WireFormat

extension CommandEntry {
    package static let checkConfig = CommandEntry("check-config") { arguments, context in
        if arguments.value("config") != nil, arguments.positional("FILE") != nil {
            throw UsageError("FILE and --config are the same; give one of them")
        }
        let file = ConfigurationFile.located(
            option: arguments.value("config") ?? arguments.positional("FILE"), environment: context.environment)
        let options = CheckOptions(
            isOnline: arguments.flag("online"), isEffective: arguments.flag("effective"), isJSON: arguments.flag("json")
        )
        return try check(file, environment: context.environment, options, context.console)
    }

    /// The parts of the answer of `check-config`.
    struct CheckOptions {
        /// Whether each service that the configuration names is asked as well.
        var isOnline = false
        /// Whether the keys in use are listed.
        var isEffective = false
        /// Whether the answer is JSON.
        var isJSON = false
    }

    /// Checks a configuration and the files that it names, and prints the result.
    ///
    /// - Parameter environment: may hold the configuration's secrets.
    static func check(
        _ file: ConfigurationFile, environment: [String: String], _ options: CheckOptions, _ console: Console
    ) throws -> ExitCode {
        let isJSON = options.isJSON
        let whole: EffectiveConfiguration
        do throws(ConfigurationError) {
            whole = try file.loadWhole()
        } catch {
            return report(error, isJSON, console)
        }
        let configuration = whole.configuration
        let check = ConfigurationCheck(configuration: configuration, environment: environment).run()
        var faults = check.faults + check.outOfTerm
        // Only where the check above found no fault: it has already reported a password that cannot be read.
        if faults.isEmpty, let fault = StoreDriver.fault(configuration.store, environment: environment) {
            faults.append(FieldFault("store.postgres", fault.description))
        }
        guard faults.isEmpty else {
            return report(ConfigurationError(path: file.path, faults: faults), isJSON, console)
        }
        if !isJSON {
            console.write(summary(file.path, whole, check))
            if options.isEffective { console.write("\n" + table(of: whole.settings)) }
        }
        let findings =
            options.isOnline ? try OnlineCheck(configuration: configuration, environment: environment).run() : nil
        if isJSON {
            write(
                isValid: true, [], warnings: check.warnings, online: findings,
                settings: options.isEffective ? whole.settings : nil, console)
        } else if let findings {
            console.write(text(findings))
        }
        return findings?.contains { $0.result == .failed } == true ? .failed : .done
    }

    /// One line for each answer. Failures come last, where a person at a terminal still sees them.
    private static func text(_ findings: [OnlineFinding]) -> String {
        guard !findings.isEmpty else { return "\nnothing to ask: it names no service\n" }
        let width = findings.map { $0.result.rawValue.count }.max() ?? 0
        let lines = [OnlineFinding.Result.good, .limited, .failed].flatMap { result in
            findings.filter { $0.result == result }.map { finding in
                let name = result.rawValue
                let lines = DisplayWidth.sanitised(finding.answer)
                let remedy = finding.remedy.map {
                    "\n\(String(repeating: " ", count: width + 2))\(DisplayWidth.sanitised($0))"
                }
                return name + String(repeating: " ", count: width - name.count + 2)
                    + "\(finding.place): \(lines)\(finding.way.map { ", \($0)" } ?? "")\(remedy ?? "")"
            }
        }
        let failed = findings.count { $0.result == .failed }
        return "\n" + lines.joined(separator: "\n") + "\n\n"
            + (failed == 0
                ? "every service answered as it should"
                : "\(failed) of \(findings.count) services did not answer as they should")
            + "; nothing was stored\n"
    }

    private static func report(_ error: ConfigurationError, _ isJSON: Bool, _ console: Console) -> ExitCode {
        if isJSON {
            write(isValid: false, error.faults, console)
        } else {
            console.writeError("\(error)\n")
        }
        return .configuration
    }

    private static func write(
        isValid: Bool, _ faults: [FieldFault], warnings: [FieldFault] = [], online: [OnlineFinding]? = nil,
        settings: [ConfigurationSetting]? = nil, _ console: Console
    ) {
        func list(_ faults: [FieldFault]) -> JSONValue {
            .array(faults.map { ["field": .string($0.field), "reason": .string($0.reason)] })
        }
        let json: JSONValue = [
            "valid": .bool(isValid), "errors": list(faults), "warnings": list(warnings),
            "online": online.map { JSONValue.array($0.map(\.json)) },
            "effective": settings.map { settings in
                .array(
                    settings.map { setting in
                        [
                            "key": .string(setting.path), "value": setting.value, "default": .bool(setting.isDefault),
                            "file": setting.file.map(JSONValue.string),
                        ]
                    })
            },
        ]
        console.writeLine(JSONText.shown(json.bytes()))
    }

    /// The keys in use, one in a line, with the name of the file that sets each.
    private static func table(of settings: [ConfigurationSetting]) -> String {
        var table = TextTable([.whole("KEY"), .whole("VALUE"), .whole("FROM")])
        for setting in settings {
            let file = setting.file.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
            table.add([setting.path, String(decoding: setting.value.bytes(), as: UTF8.self), file ?? "default"])
        }
        return table.lines().map { "\($0)\n" }.joined()
    }

    private static func summary(
        _ path: String, _ whole: EffectiveConfiguration, _ check: ConfigurationCheck.Report
    ) -> String {
        let configuration = whole.configuration
        var fields = [("configuration", path)] + whole.files.map { ("and", $0) }
        fields += [
            ("store", configuration.store.place), ("listens at", "\(configuration.listen.address)"),
            ("control socket", configuration.listen.controlSocket),
        ]
        if let operations = configuration.listen.operations { fields.append(("operations at", "\(operations)")) }
        if let identity = check.identity {
            let end = Timestamp(seconds: identity.notAfter).internetSeconds
            fields.append(("certificate", "\(identity.names), until \(end)"))
        }
        if let way = configuration.egress.shown { fields.append(("way out", way)) }
        for app in configuration.apps {
            let certificate = check.certificates.first { $0.app == app.key }
            let services = app.shownServices(check)
            let pushes = services.isEmpty ? "no pushes" : "pushes to \(services.joined(separator: "; and to "))"
            fields.append(("app", "\(app.key.app) \(app.key.platform.rawValue), \(pushes)"))
            if let certificate { fields.append(("certificate", Self.text(certificate.certificate))) }
        }
        if configuration.apps.isEmpty { fields.append(("apps", "none")) }
        for secret in check.secretsRead { fields.append(("read", "\(secret.field) from \(secret.place)")) }
        for warning in check.warnings { fields.append(("warning", "\(warning)")) }
        if configuration.webhooks.secrets.isEmpty {
            fields.append(("note", "webhooks.secrets is empty: every webhook is refused"))
        }
        return "configuration is valid\n\n" + TextTable.fields(fields)
    }

    /// ""Apple Push Services: com.example.app" for production and sandbox, until 2027-01-15T08:00:00.000Z".
    private static func text(_ certificate: PushCertificate) -> String {
        let worlds = certificate.content.worlds.map(\.rawValue).sorted().joined(separator: " and ")
        return "\(certificate) for \(worlds), until \(certificate.term.notAfter.internetTime)"
    }
}
