// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayStore
import Requirements
import Signing
import Synchronization
import UpgradeRules
import VersionSources

/// The configuration file of a simulated relay, as an operator would write it, at one moment.
struct Settings {
    let setup: Setup
    /// By app: whether it is in the file.
    var hasApp: [Bool]
    /// By app: whether its sources are in the file.
    var hasSources: [Bool]
    /// By app: its pace after the edits so far; 0: none.
    var pace: [Int]
    /// By app: whether its hours are in the file: an edit may take them out.
    var hasHours = [true, true]
    /// By app: whether its rule of two persons is in the file: an edit may take it out.
    var hasEyes = [true, true]

    init(_ setup: Setup) {
        self.setup = setup
        hasApp = [true, setup["apps"] > 1]
        hasSources = [true, true]
        pace = (0..<2).map { setup["pace", $0] }
    }

    var apps: Range<Int> { 0..<setup["apps"] }

    func isAndroid(_ app: Int) -> Bool { setup["platform", app] == 1 }

    func key(_ app: Int) -> AppKey {
        AppKey(app: "com.example.app\(app)", platform: isAndroid(app) ? .android : .ios)
    }

    /// Whether requirements of the app wait for a store just now.
    func isGated(_ app: Int) -> Bool { hasSources[app] && setup["gate", app] > 0 }

    /// The percentage of users that must be offered a version; Apple's stores know only all.
    func minimumPercent(_ app: Int) -> Int { isAndroid(app) ? setup["fraction", app] : 100 }

    /// The app's hours; nil: at any time. Only where its campaigns live long enough for any hours: a relay refuses other combinations.
    func hours(_ app: Int) -> SimulatedHours? {
        setup["life", app] == 168 && hasHours[app] ? SimulatedHours(setup["hours", app]) : nil
    }

    /// The percentage of an app's devices that one person reaches alone; nil: all of them.
    func eyes(_ app: Int) -> Int? { hasEyes[app] && setup["eyes", app] > 0 ? (setup["eyes", app] - 1) * 50 : nil }

    var hasAnySource: Bool { apps.contains { hasApp[$0] && !sources($0).isEmpty } }

    /// Whether a LaunchGate file is watched.
    func watchesFile(_ app: Int) -> Bool {
        setup["file", app] == 1 && !isAndroid(app) && hasSources[app]
    }

    /// The percentage of an app's users that each wave and those before it hold; empty: no waves.
    func waveEnds(_ app: Int) -> [Int] {
        switch setup["waves", app] {
        case 0: []
        case 1: [30, 100]
        default: [10, 50, 100]
        }
    }

    /// Whether an app's waves wait for a person.
    func needsApproval(_ app: Int) -> Bool { setup["approval", app] == 1 && setup["waves", app] > 0 }

    /// The users that a release announced by a pipeline is required of first; nil: of all users at once.
    func firstUsers(_ app: Int) -> Set<Int>? { setup["first", app] == 1 ? [0, 1] : nil }

    /// The app's file that names the required version.
    static func file(_ app: Int) -> String { "/launchgate\(app).json" }

    var text: String {
        let sections = apps.filter { hasApp[$0] }.map { app in
            #""com.example.app\#(app)": { \#(isAndroid(app) ? "android" : "ios"): { \#(section(app)) } }"#
        }
        return #"{ store: { sqlite: { path: "/relay.db" } }, fanOut: { batch: \#(setup["batch"]) }, "#
            + #"listen: { controlSocket: "/control.sock" }, notify: [{ url: "https://hook.example.com/", "#
            + #"secret: { environment: "HOOK" } }], apps: { \#(sections.joined(separator: ", ")) } }"#
    }

    private func section(_ app: Int) -> String {
        var parts = [#"downloadUrl: "https://example.com/app\#(app)""#, "push: { \(push(app)) }"]
        if let users = firstUsers(app) {
            let telephones = users.sorted().map { "\"\(Phone.telephone($0))\"" }
            parts.append("webhooks: { canary: [\(telephones.joined(separator: ", "))] }")
        }
        if setup["ends", app] == 1 { parts.append(#"belowMinimumOs: "deny""#) }
        if let eyes = eyes(app) { parts.append(#"approval: { above: "\#(eyes)%", within: "2h" }"#) }
        if setup["policy", app] == 1 { parts.append(#"forcePolicy: "minor""#) }
        let pacing = pacing(app)
        if !pacing.isEmpty { parts.append("pace: { \(pacing) }") }
        parts.append(isAndroid(app) ? fcm(app) : apns(app))
        let sources = hasSources[app] ? sources(app) : []
        if !sources.isEmpty { parts.append("sources: [\(sources.joined(separator: ", "))]") }
        if !isAndroid(app) { parts.append("holdHours: \(setup["hold", app])") }
        return parts.joined(separator: ", ")
    }

    private func push(_ app: Int) -> String {
        // Shorter than an hour: short enough that pushes are on their way when it ends, and longer than the pauses between the waves.
        let (life, between) = (setup["life", app], setup["waves", app] * setup["pause", app])
        var parts = [#"timeToLive: "\#(life > 0 ? "\(life)h" : "\(3 + between)m")""#]
        if setup["remind", app] == 1 { parts.append(#"remind: ["1h", "2d"]"#) }
        return parts.joined(separator: ", ")
    }

    private func pacing(_ app: Int) -> String {
        var parts: [String] = []
        if let hours = hours(app) { parts.append(hours.text) }
        if pace[app] > 0 { parts.append("ratePerSecond: \(pace[app])") }
        let ends = waveEnds(app)
        guard !ends.isEmpty else { return parts.joined(separator: ", ") }
        parts.append("waves: [\(ends.map(String.init).joined(separator: ", "))]")
        var rules = [#"pause: "\#(setup["pause", app])m""#]
        if setup["approval", app] == 1 { rules.append("approval: true") }
        if setup["failed", app] > 0 { rules.append("maxFailedPercent: \(setup["failed", app])") }
        parts.append("betweenWaves: { \(rules.joined(separator: ", ")) }")
        return parts.joined(separator: ", ")
    }

    private func apns(_ app: Int) -> String {
        // Both apps of a team push with one key.
        #"apns: { teamId: "TEAM123456", keyId: "KEY1234567", key: { environment: "APNS_KEY" }, "#
            + #"server: "https://push\#(app):443", sandboxServer: "https://sandbox\#(app):443", "#
            + #"tryOtherEnvironment: \#(setup["other", app] == 1) }"#
    }

    private func fcm(_ app: Int) -> String {
        let quota = setup["quota", app]
        return #"fcm: { serviceAccount: { environment: "FCM_ACCOUNT" }, server: "https://push\#(app):443" "#
            + (quota > 0 ? ", quotaPerMinute: \(quota)" : "") + " }"
    }

    private func sources(_ app: Int) -> [String] {
        var sources: [String] = []
        let every = setup["every"]
        if setup["gate", app] > 0 {
            if isAndroid(app) {
                sources.append(
                    #"{ googlePlay: { packageName: "com.example.app\#(app)", key: { environment: "FCM_ACCOUNT" }, every: "\#(every)m", "#
                        + "minimumFraction: \(Double(minimumPercent(app)) / 100) } }")
            } else if setup["gate", app] == 1 {
                sources.append(
                    #"{ appStore: { bundleId: "com.example.app\#(app)", lookupServer: "https://store\#(app)", every: "\#(every)m" } }"#
                )
            } else {
                sources.append(
                    #"{ appStoreConnect: { appId: \#(1000 + app), keyId: "2X9R4HXF34", key: { environment: "APNS_KEY" }, "#
                        + #"server: "https://connect\#(app)", every: "\#(every)m" } }"#)
            }
        }
        if setup["file", app] == 1, !isAndroid(app) {
            sources.append(#"{ launchGate: { file: "\#(Self.file(app))" } }"#)
        }
        return sources
    }

    /// The file's configuration, and the sources that it has watched. A text that was read before is not parsed again: a relay starts and
    /// reads its file many times in a history.
    func read() throws -> (configuration: RelayConfiguration, plan: SourceRunner.Plan) {
        let text = text
        if let known = Self.known.withLock({ $0[text] }) { return known }
        let configuration = try ConfigurationFile.parse(Array(text.utf8), path: "simulation")
        let read = (configuration, try configuration.sourcePlan(environment: Secrets.environment))
        Self.known.withLock { known in
            if known.count > 100 { known = [:] }
            known[text] = read
        }
        return read
    }

    private static let known = Mutex<[String: (configuration: RelayConfiguration, plan: SourceRunner.Plan)]>([:])
}

/// The secrets that the file names: made and read once per process, since no answer depends on them.
enum Secrets {
    /// Read keys are kept: a relay starts many times in a history.
    static let keys = KeyReader { pem in
        if let key = known.withLock({ $0[pem] }) { return key }
        let key = try ES256PrivateKey(pem: pem)
        known.withLock { $0[pem] = key }
        return key
    } account: { bytes throws(SigningError) in
        if let account = accounts.withLock({ $0[bytes] }) { return account }
        let account = try GoogleAccount(keyFile: bytes)
        accounts.withLock { $0[bytes] = account }
        return account
    }

    private static let known = Mutex<[[UInt8]: ES256PrivateKey]>([:])
    private static let accounts = Mutex<[[UInt8]: GoogleAccount]>([:])

    static let environment: [String: String] = {
        guard let apns = try? ES256PrivateKey.generate(), let google = try? RS256PrivateKey.generate() else {
            preconditionFailure("OpenSSL makes no keys")
        }
        let pem = String(decoding: google.pem, as: UTF8.self).split(separator: "\n").joined(separator: "\\n")
        return [
            "APNS_KEY": String(decoding: apns.pem, as: UTF8.self),
            "FCM_ACCOUNT":
                #"{"type":"service_account","project_id":"example","private_key_id":"1","private_key":"\#(pem)\n","#
                + #""client_email":"relay@example.iam.gserviceaccount.com"}"#,
            "HOOK": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        ]
    }()
}
