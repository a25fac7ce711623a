// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Requirements
package import Signing
import UpgradeRules
import WireFormat

/// The settings for FCM of one app.
package struct FCMConfiguration: Sendable, Equatable {
    /// The JSON file of a service account's key.
    package var serviceAccount: SecretSource
    /// The Firebase project's id. Default the key file's.
    package var project: String?
    /// Default https://fcm.googleapis.com.
    package var server = ServerAddress(host: "fcm.googleapis.com", port: 443)
    /// The egress settings for the server and the token endpoint. Default the common ones.
    package var egress = EgressConfiguration()
    /// The most connections for each lane. Default 16.
    package var connections = 16
    /// The quota of requests a minute, for all apps of the project together. Default 600000.
    package var quotaPerMinute = 600_000
    /// Whether no campaign begins around a quarter of an hour. Default yes.
    package var avoidsQuarterHours = true
    /// The package name of the only app that may get the push. Default any app that the token belongs to.
    package var packageName: String?
    /// Whether the system itself shows the push's words. Default no: data alone, which the app reads.
    package var showsNotification = false
    /// The label of a campaign in Google's delivery statistics. Default none.
    package var analyticsLabel: AnalyticsLabel?
    /// Whether a phone takes the push where bandwidth is short. Default no.
    package var isForConstrainedBandwidth = false
    /// Whether a phone takes the push by satellite. Default no.
    package var isForRestrictedSatellite = false
}

extension AppConfiguration {
    /// For an Android app, and for an iOS app beside `apns` or in its place.
    package var fcm: FCMConfiguration? {
        get { providers[FCMConfiguration.self] }
        set { providers[FCMConfiguration.self] = newValue }
    }
}

extension FCMConfiguration: ProviderConfiguration {
    static let provider = ProviderName.fcm
    static let missing: String? = nil

    /// Some keys are for android alone.
    init(
        reading reader: ConfigurationReader, in section: ConfigurationReader, of app: inout AppConfiguration,
        _ egress: EgressConfiguration
    ) {
        serviceAccount =
            reader.requiredSecret("serviceAccount", "where the service account's JSON file is") ?? .file("")
        project = reader.string("project", check: Self.projectProblem)
        server = reader.server("server") ?? server
        self.egress = reader.egress(over: egress, tookPasswords: true)
        connections = reader.integer("connections", default: connections, in: 1...1000, "a number of connections")
        quotaPerMinute = reader.integer(
            "quotaPerMinute", default: quotaPerMinute, in: 60...600_000_000, "a number of requests a minute")
        avoidsQuarterHours = reader.flag("avoidQuarterHours", default: avoidsQuarterHours)
        let isAndroid = app.key.platform == .android
        if isAndroid { readAndroid(reader, &app.push.words) } else { Self.refuseAndroid(reader) }
        analyticsLabel = reader.parsed(
            "analyticsLabel",
            else: "is not a label; letters, digits, \"-\", \"_\", \".\", \"~\" and \"%\", 50 at most once "
                + "\(AnalyticsLabel.placeholder) is the campaign's id"
        ) { AnalyticsLabel($0) }
        reader.finish()
        if isAndroid, !showsNotification, !app.push.words.isPlain {
            section.fault(
                "push.alert",
                "has a title or a key, which no phone shows: the push is data alone. Text alone, or fcm.notification")
        }
    }

    private mutating func readAndroid(_ reader: ConfigurationReader, _ words: inout PushWords) {
        packageName = reader.string("packageName", check: RelayConfiguration.packageNameProblem)
        if let notification = reader.optionalObject("notification") {
            showsNotification = true
            if words.title == nil, words.appTitle == nil {
                words.title = notification.requiredString(
                    "title", "what the system shows above the message", check: shortText)
            } else if notification.raw("title") != nil {
                notification.fault("title", "is said twice; push.alert has one")
            }
            notification.finish()
        }
        isForConstrainedBandwidth = reader.flag("bandwidthConstrainedOk", default: false)
        isForRestrictedSatellite = reader.flag("restrictedSatelliteOk", default: false)
    }

    private static func refuseAndroid(_ reader: ConfigurationReader) {
        for key in ["packageName", "bandwidthConstrainedOk", "restrictedSatelliteOk"] where reader.raw(key) != nil {
            reader.fault(key, "is for android; APNs has nothing like it")
        }
        if reader.raw("notification") != nil {
            reader.fault("notification", "is for android; an iPhone shows push.alert")
        }
    }

    /// "6 to 30 lowercase letters, digits, or hyphens", and older ones in a domain: "example.com:project" (Google Cloud,
    /// project ids). It becomes a segment of the request's path.
    static func projectProblem(_ text: String) -> String? {
        let isRight =
            (4...100).contains(text.utf8.count) && text.first.map { $0.isASCII && $0.isLetter } ?? false
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"): true
                default: false
                }
            }
        return isRight ? nil : "is not a project id; such as \"example-project\", in Firebase's project settings"
    }

    /// The account that pushes, and the project that it pushes to.
    ///
    /// - Throws: `FileProbe.Failure`, without any part of the key.
    package func account(
        environment: [String: String], keys: KeyReader = KeyReader()
    ) throws -> (account: GoogleAccount, project: String) {
        let account = try AppConfiguration.account(serviceAccount, environment, keys)
        return (account, try project(of: account))
    }

    private func project(of account: GoogleAccount) throws(FileProbe.Failure) -> String {
        if let project { return project }
        guard let named = account.projectID else {
            throw FileProbe.Failure(
                problem: "\(serviceAccount.place): it has no \"project_id\"", hint: "name the project: fcm.project")
        }
        if let problem = Self.projectProblem(named) {
            throw FileProbe.Failure(
                problem: "\(serviceAccount.place): its project_id \(JSONValue.string(named).sight) \(problem)")
        }
        return named
    }
}

extension FCMConfiguration {
    func check(
        at field: String, of app: AppKey, by checker: ConfigurationCheck, _ report: inout ConfigurationCheck.Report
    ) {
        if checker.read(serviceAccount, "\(field).serviceAccount", &report) != nil {
            do {
                let account = try self.account(environment: checker.environment).account
                report.look(at: account, from: serviceAccount, server: "\(server)", "\(field).serviceAccount")
            } catch {
                report.faults.append(FieldFault("\(field).serviceAccount", "\(error)"))
            }
        }
        checker.check(egress, field, &report)
    }

    func shown(for app: AppKey, _ report: ConfigurationCheck.Report) -> String {
        "\(server)" + (project.map { ", project \($0)" } ?? "")
    }
}
