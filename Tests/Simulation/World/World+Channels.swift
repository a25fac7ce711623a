// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import HTTPServer
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements
import Telemetry
import UpgradeRules

/// The answers of the channels, compared with each other and with what people have required.
extension World {
    func askChannels(_ app: Int) {
        guard let relay else { return }
        let key = settings.key(app)
        guard let zero = try? Version("0.1") else { return }
        func check(_ user: Int?) -> Int? {
            let telephone = user.map(Phone.telephone)
            return relay.cache.check(key, version: zero, user: .init(telephone, isProven: true))?.toldAtLogin
                .map { Self.number(of: $0.version.text) }
        }
        let login = check(nil)
        let proxy = proxy(relay, key, zero)
        if login != proxy {
            model.broke(
                "channels.differ", "login check of app \(app) says \(shown(login)), /v1/enforce \(shown(proxy))")
        }
        // An Android app compares version codes, which are not named here. The launch document knows no user's system, so it requires the
        // version that runs on all known systems: at least the one that the oldest phone must have.
        let old = UpgradeRule.User(nil, system: try? Version(Phone.oldSystem))
        let ofOldest = relay.cache.check(key, version: zero, user: old)?.toldAtLogin.map {
            Self.number(of: $0.version.text)
        }
        if !settings.isAndroid(app), let document = document(relay, key), login != document, ofOldest != document {
            model.broke(
                "channels.differ",
                "login check of app \(app) says \(shown(login)), its launch document \(shown(document))")
        }
        journal.trace("app \(app) \(shown(login))")
        if let login {
            model.says("the login check", app: app, version: login, user: nil)
        }
        // User 0, and every user who is named anywhere.
        let named = model.announcements.filter { $0.app == app }.compactMap(\.canary).reduce(into: Set([0])) {
            $0.formUnion($1)
        }
        for user in named.sorted() {
            if let version = check(user), version != login {
                model.says("the login check", app: app, version: version, user: user)
            }
        }
        if let answer = relay.cache.check(key, version: zero, user: .nobody) {
            model.tells(app: app, Self.version("latest", in: SaidText(answer.content.usual)))
        }
        judgePushed(app, check)
        judgeExplanation(app)
    }

    /// The login check also forces the users that a running campaign has pushed to.
    private func judgePushed(_ app: Int, _ check: (Int?) -> Int?) {
        for (campaign, _) in told.values where campaign.app == app && campaign.state == "running" {
            guard let facts = model.campaigns[campaign.id] else { continue }
            let announcement = model.announcements[facts.announcement]
            // A version that was taken back may have been pushed before.
            let isFirst = model.announcements.count { $0.app == app && $0.version == campaign.version } == 1
            guard announcement.isStaged, announcement.isLive, announcement.haltedAt == nil, isFirst else { continue }
            // Other users may be named since, and an erased user is no longer named.
            let named = announcement.canary
            for phone in phones where phone.app == app && pushes.has(app, token(phone), campaign.version) {
                guard let user = model.device(app, token(phone))?.user, named?.contains(user) ?? true,
                    pushes.user(of: token(phone), app, campaign.version) == user,
                    check(user).map({ $0 < campaign.version }) ?? true
                else { continue }
                model.broke(
                    "inForce.pushed",
                    "user \(user) of app \(app) was pushed for \(Self.text(version: campaign.version)), and the login check does not say so"
                )
            }
        }
    }

    private func shown(_ version: Int?) -> String { version.map { "\(World.text(version: $0))" } ?? "nothing" }

    private func proxy(_ relay: Relay, _ key: AppKey, _ version: Version) -> Int? {
        guard case .denied(let refusal) = relay.cache.enforce(key, version: version).1 else { return nil }
        return Self.version("required", in: SaidText(refusal.response(.upgradeRequired).body))
    }

    private func document(_ relay: Relay, _ key: AppKey) -> Int? {
        relay.cache.document(key.app).flatMap { Self.version("minimumVersion", in: SaidText($0)) }
    }

    private static func version(_ name: String, in text: SaidText) -> Int? { text.value(name).map(number) }
}
