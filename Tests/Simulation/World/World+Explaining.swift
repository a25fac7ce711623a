// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// `users explain` must give for each channel the answer of that channel.
extension World {
    /// Judges one user at a time, another each time, and in one history of eight: an explanation reads all that the store has of a user,
    /// which takes an eighth of a history's time. It stays the same as long as nothing was written, no configuration was read and no hour
    /// has passed.
    func judgeExplanation(_ app: Int) {
        guard settings.setup["chance"] % 8 == 0 else { return }
        if let known = explained[app], known.change == change, tick - known.at < .seconds(3600) { return }
        explained[app] = (change, tick)
        let users = phones.filter { $0.app == app }.compactMap(\.user)
        guard let relay, !users.isEmpty else { return }
        let telephone = Phone.telephone(users[Int(milliseconds.magnitude / 1000 % UInt64(users.count))])
        let key = settings.key(app)
        undisturbed {
            let explainer = UserExplainer(store: relay.store, versionCache: relay.cache, unknownVersions: .allow)
            // Nothing is explained while the disk fails.
            guard let explanation = try? explainer.explain(telephone, where: { $0 == key }) else { return }
            for device in explanation.apps.flatMap(\.devices) { judge(device, relay, app) }
            for one in explanation.apps { judgeSummary(one, app) }
        }
    }

    private func judge(_ device: UserExplanation.Device, _ relay: Relay, _ app: Int) {
        judgeExplained(device, app)
        let registration = device.record.registration
        let (key, version) = (registration.app, registration.version)
        func judge(_ channel: String, _ word: UserExplanation.Word, _ isSo: Bool) {
            guard !isSo else { return }
            model.broke(
                "channels.explained",
                "\(channel) of app \(app), a device with \(version?.text ?? "no version"), is explained as "
                    + "\(word.says.rawValue), because \(word.why)")
        }
        let user = UpgradeRule.User(registration.telephone, isProven: true, system: registration.osVersion)
        if let version, let content = relay.cache.check(key, version: version, user: user)?.content.usual {
            let answer = SaidText(content)
            let says: UserExplanation.Word.Says =
                answer.contains(#""hasNewVersion":"0""#)
                ? answer.contains(#""needUpgrade":"1""#) ? .denied : .nothing
                : answer.contains(#""needUpgrade":"1""#) ? .mustUpgrade : .mayUpgrade
            judge("the login check", device.login, device.login.says == says)
        }
        let proxy: UserExplanation.Word.Says =
            switch relay.cache.enforce(key, version: version, system: registration.osVersion).1 {
            case .denied: .denied
            case .passes: .passes
            case .unknown: .unknown
            }
        judge("/v1/enforce", device.enforce, device.enforce.says == proxy)
        if device.launchDocument.says == .mustUpgrade, let content = relay.cache.document(key.app) {
            judge("the launch document", device.launchDocument, SaidText(content).contains(#""minimumVersion":"#))
        }
        // A push that is recorded as taken was taken.
        let campaign = device.push.says == .pushed ? device.push.why.split(separator: " ").last.map(String.init) : nil
        // A device may have got the id of a row that another program has deleted, and with it the deliveries.
        if let campaign, !rowsWereDeleted, let facts = model.campaigns[campaign] {
            let number = model.announcements[facts.announcement].version
            judge("the push", device.push, pushes.has(app, registration.token, number))
        }
    }
}
