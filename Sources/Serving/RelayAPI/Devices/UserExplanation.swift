// SPDX-License-Identifier: Apache-2.0
import RelayEngine
package import RelayStore
package import Requirements
package import UpgradeRules
import WireFormat

/// The answer to support's questions about one user: devices, each channel's present answer with its reason, and pushes.
package struct UserExplanation: Sendable {
    package var telephone: String
    package var apps: [App] = []
    /// The state of each app and platform, in the order of `apps`.
    package var summaries: [UserSummary] { apps.map(\.summary) }
    /// Other spellings that are known, where this telephone is not.
    package var similar: [String] = []

    package var isKnown: Bool { !apps.isEmpty }

    /// How the telephone was looked up.
    package var spelling: String {
        let odd = telephone.unicodeScalars.enumerated().filter { !("0"..."9").contains($1) }
        let signs = odd.prefix(5).map { "\($1.properties.name ?? "a sign without a name") at \($0 + 1)" }
        return "looked for character by character, as apps compare it: \(telephone.unicodeScalars.count) characters, "
            + (odd.isEmpty ? "all digits" : "\(odd.count) of them no digits (\(signs.joined(separator: ", ")))")
    }

    /// The behaviour of one channel, in one word and in a sentence.
    package struct Word: Hashable, Sendable {
        package enum Says: String, Hashable, Sendable, CaseIterable {
            // A push.
            case pushed, due, notPushed
            // The login check and the launch document.
            case mustUpgrade, mayUpgrade, alert, nothing
            // A proxy; the login check, too, where the service ends for such a phone.
            case denied, passes, unknown
        }

        package var says: Says
        package var why: String

        package init(_ says: Says, _ why: String) {
            self.says = says
            self.why = why
        }
    }

    package struct App: Sendable {
        package var app: AppKey
        package var summary: UserSummary
        /// nil where no version was ever requested.
        package var record: VersionRecord?
        package var stage: Stage?
        package var devices: [Device] = []
        /// The newest campaign first.
        package var pushes: [Push] = []
    }

    /// Where the user stands in a requirement that is in force for some users alone.
    package struct Stage: Sendable {
        package var rule: UpgradeRule
        /// Its canary names the user.
        package var isNamed: Bool
        /// The reach at which the requirement includes the user, in ten-thousandths.
        package var turn: Int
        package var isReached: Bool
    }

    package struct Device: Sendable {
        package var record: DeviceRecord
        package var push: Word
        package var login: Word
        package var enforce: Word
        package var launchDocument: Word
        /// The requirements that the device was notified of at login, as far as campaigns have recorded it, oldest first.
        package var toldAtLogin: [Version]
    }

    package struct Push: Sendable {
        package var delivery: Delivery
        /// nil where the campaign was removed a moment ago.
        package var target: UpgradeTarget?
    }
}

/// Explains a user from all sources, and each channel as its own clients see it.
package struct UserExplainer {
    private let store: any RelayStore
    private let versionCache: VersionCache
    private let unknownVersions: EnforceRules.Unknown
    private let requirements: (any RequirementOperations)?
    /// The most pushes of one user that are listed, over all apps.
    private static let mostPushes = 200

    /// - Parameter requirements: the waits and offers of the app stores; nil: none is known.
    package init(
        store: any RelayStore, versionCache: VersionCache, unknownVersions: EnforceRules.Unknown,
        requirements: (any RequirementOperations)? = nil
    ) {
        self.requirements = requirements
        self.store = store
        self.versionCache = versionCache
        self.unknownVersions = unknownVersions
    }

    /// - Parameter isMeant: whether the question includes an app.
    package func explain(_ telephone: String, where isMeant: (AppKey) -> Bool) throws -> UserExplanation {
        var explanation = UserExplanation(telephone: telephone)
        let devices = try store.devices(telephone: telephone, token: nil, after: 0, limit: 1000)
            .filter { isMeant($0.registration.app) }
        let pushes = try store.deliveries(DeliveryFilter(telephone: telephone), after: nil, limit: Self.mostPushes)
            .filter { isMeant($0.app) }
        let records = Dictionary(uniqueKeysWithValues: try store.versions().map { ($0.app, $0) })
        let named = records.filter { isMeant($0.key) && $0.value.requirements.names(telephone) }.keys
        let apps = Set(devices.map(\.registration.app) + pushes.map(\.app) + named)
        let notices = try store.toldAtLogin(devices.map(\.id))
        let campaigns = try campaigns(of: apps, pushes)
        for app in apps.sorted() {
            var one = UserExplanation.App(app: app, summary: UserSummary(app, .noDevice), record: records[app])
            let requirements = one.record?.requirements ?? Requirements()
            let campaigns = campaigns.filter { $0.value.app == app }
            one.pushes = pushes.filter { $0.app == app }.map { delivery in
                UserExplanation.Push(delivery: delivery, target: campaigns[delivery.campaign]?.requirement.target)
            }
            one.stage = requirements.staged.map { UserExplanation.Stage($0, telephone) }
            one.devices = devices.filter { $0.registration.app == app }.map { device in
                let deliveries = one.pushes.map(\.delivery).filter { $0.device == device.id }
                return UserExplanation.Device(
                    record: device,
                    push: push(to: device, requirements, deliveries, Array(campaigns.values)),
                    login: login(of: device), enforce: enforce(device), launchDocument: launch(device),
                    toldAtLogin: notices[device.id] ?? [])
            }
            one.summary = summary(of: one, telephone, Array(campaigns.values))
            explanation.apps.append(one)
        }
        if apps.isEmpty { explanation.similar = try UserSearch(store).similar(to: telephone, where: isMeant) }
        return explanation
    }

    private func summary(
        of app: UserExplanation.App, _ telephone: String, _ campaigns: [CampaignRecord]
    ) -> UserSummary {
        let record = app.record ?? VersionRecord(app.app)
        let summarizer = UserSummarizer(
            record: record, telephone: telephone, campaigns: campaigns, wait: requirements?.wait(of: record),
            rules: versionCache.rules(of: app.app)
        ) { [requirements] row, audience in
            requirements?.offer(of: row, among: record.requirements, record.app, to: audience) ?? .unasked
        }
        let devices = app.devices.map(\.record).map { device in
            let registration = device.registration
            return (
                record: device,
                answer: versionCache.check(
                    registration.app, version: registration.version, user: registration.user)
            )
        }
        return summarizer.summary(devices, app.pushes)
    }

    private func campaigns(of apps: Set<AppKey>, _ pushes: [Delivery]) throws -> [String: CampaignRecord] {
        var found: [String: CampaignRecord] = [:]
        for record in try store.openCampaigns() + store.campaigns(before: nil, limit: 100)
        where apps.contains(record.app) { found[record.id] = record }
        for id in Set(pushes.map(\.campaign)) where found[id] == nil { found[id] = try store.campaign(id: id) }
        return found
    }

    // MARK: Channels

    /// The answer at login to an app that sends its telephone and its push token, which prove the user.
    private func login(of device: DeviceRecord) -> UserExplanation.Word {
        let (app, version) = (device.registration.app, device.registration.version)
        let user = device.registration.user
        guard let answer = versionCache.check(app, version: version, user: user) else {
            return .notConfigured
        }
        let why = answer.verdict.words(version, user, among: versionCache.rules(of: app))
        if case .ended = answer.verdict { return .init(.denied, why) }
        switch (answer.prompt, answer.verdict.prompt) {
        case (.force, _): return .init(.mustUpgrade, why)
        case (.remind, _): return .init(.mayUpgrade, why)
        case (.none, .none): return .init(.nothing, why)
        case (.none, _): return .init(.nothing, "\(why), but there is no download URL to send anybody to")
        }
    }

    private func enforce(_ device: DeviceRecord) -> UserExplanation.Word {
        let (app, version) = (device.registration.app, device.registration.version)
        let (system, unknown) = (
            device.registration.osVersion, UpgradeRule.User(nil, system: device.registration.osVersion)
        )
        guard let answer = versionCache.check(app, version: version, user: unknown) else { return .notConfigured }
        let rules = versionCache.rules(of: app)
        let (words, user) = (answer.verdict.words(version, unknown, among: rules), device.registration.user)
        let own = versionCache.check(app, version: version, user: user)?.verdict.words(version, user, among: rules)
        // Only where it matters that a proxy knows no user.
        let why = own == words ? words : "a proxy does not know the user: \(words)"
        switch versionCache.enforce(app, version: version, system: system).1 {
        case .denied: return .init(.denied, why)
        case .passes: return .init(.passes, why)
        case .unknown:
            return .init(
                .unknown,
                "no version of this device is known here; where it names none either, `enforce.unknown` says "
                    + "\"\(unknownVersions.rawValue)\"")
        }
    }

    private func launch(_ device: DeviceRecord) -> UserExplanation.Word {
        let app = device.registration.app
        guard let section = versionCache.launchSection(of: app) else { return .notConfigured }
        guard let version = device.registration.version else {
            return .init(.nothing, "no version of this device is known; \(section.words)")
        }
        let client: LaunchGateClient = app.platform == .ios ? .launchGate : .gandalf
        switch client.prompt(section, installed: version.text) {
        case .required: return .init(.mustUpgrade, section.words)
        case .optional: return .init(.mayUpgrade, section.words)
        case .alert(_, let isBlocking):
            return .init(.alert, isBlocking ? "a blocking alert is set" : "an alert is set; \(section.words)")
        case .none where client == .gandalf && Int32(version.text) == nil:
            return .init(
                .nothing, "the document goes by version codes, and only \"\(version)\" is known; \(section.words)")
        case .none: return .init(.nothing, section.words)
        }
    }

    private func push(
        to device: DeviceRecord, _ requirements: Requirements, _ deliveries: [Delivery], _ campaigns: [CampaignRecord]
    ) -> UserExplanation.Word {
        let version = device.registration.version
        let user = device.registration.user
        let verdict = Verdict(requirements.rules, version: version, user: user)
        let why = verdict.words(version, user, among: requirements.rules)
        guard let rule = verdict.floor else {
            if case .announced = verdict { return .init(.notPushed, "\(why); only what is required is pushed") }
            return .init(.notPushed, why)
        }
        guard let campaign = campaigns.first(where: { $0.requirement.id == rule.id }) else {
            return .init(
                .notPushed, "\(why), and no campaign announces it: the app has no push service, or it is long over")
        }
        let delivery = deliveries.first { $0.campaign == campaign.id }
        if delivery?.state == .accepted {
            return .init(.pushed, "the push service took it, by campaign \(campaign.id)")
        }
        if let retiredAt = device.retiredAt {
            return .init(.notPushed, "the push service declared this token dead at \(retiredAt.internetTime)")
        }
        return delivery.words(campaign)
    }
}

extension DeviceRegistration {
    /// The user of the device, for the channels that know the user.
    var user: UpgradeRule.User { UpgradeRule.User(telephone, isProven: true, system: osVersion) }
}

extension Requirements {
    /// Whether a live requirement's canary names the user.
    fileprivate func names(_ telephone: String) -> Bool {
        rows.contains { $0.isLive && $0.names(telephone) }
    }
}

extension Requirement {
    /// Whether its canary names the user.
    func names(_ telephone: String) -> Bool {
        canary?.contains { TelephoneRule.matches($0, telephone) } ?? false
    }
}

extension UserExplanation.Stage {
    fileprivate init(_ row: Requirement, _ telephone: String) {
        rule = row.rule
        isNamed = row.names(telephone)
        let part = UserDraw(requirement: row.id).part(of: telephone.utf8)
        turn = row.stages?.ends.first { part < $0 } ?? UpgradeRule.everybody
        isReached = rule.reaches(UpgradeRule.User(telephone, isProven: true))
    }
}
