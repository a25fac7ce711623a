// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore

/// People who looked some steps ago, and act by what they were shown then.
extension World {
    /// What somebody has looked at.
    struct Look {
        /// nil: what a release of the app would let through.
        var campaign: CampaignKey?
        var app: Int
        var shown: Shown

        func subject(_ key: AppKey) -> ActSubject { campaign.map(ActSubject.campaign) ?? .release(key, nil, nil) }
    }

    func look(_ app: Int, _ number: Int) throws -> String? {
        guard let relay else { return nil }
        var look = Look(app: app, shown: Shown())
        let all = campaigns()
        if number % 3 != 0, !all.isEmpty {
            let campaign = all[number % all.count]
            look.campaign = campaign.key
            look.app = self.app(of: campaign) ?? app
        }
        look.shown = try undisturbed {
            try relay.store.facts(look.subject(settings.key(look.app)), at: clock.now.wall)
        }
        looks = looks.suffix(7) + [look]
        return "somebody looks at \(look.campaign.map { "campaign \($0.row)" } ?? "app \(look.app)")"
    }

    /// What was shown may hold no more: then nothing is done, and else it is.
    func actByLook(_ first: Int, _ second: Int) throws -> String? {
        guard let relay, !looks.isEmpty else { return nil }
        let look = looks[first % looks.count]
        let key = settings.key(look.app)
        let campaign = try look.campaign.map { campaign in
            try undisturbed { try relay.store.campaign(campaign) }
        }
        // It was pruned, or another program has deleted it.
        if case .some(.none) = campaign { return nil }
        let now = try undisturbed { try relay.store.facts(look.subject(key), at: clock.now.wall) }
        let change = Self.change(look.shown, now)
        carried = Confirmed(look.shown, of: look.campaign)
        defer { carried = nil }
        do {
            let text = try act(by: second, campaign ?? nil, look.app)
            if let change, text != nil {
                model.broke("act.stale", "\(text ?? "") though \(change)")
            }
            return text.map { "by an old look: \($0)" }
        } catch let stale as StaleConfirmation {
            if change == nil {
                model.broke("act.stale", "what somebody was shown holds still, and is refused: \(stale)")
            }
            throw stale
        }
    }

    private func act(by number: Int, _ campaign: CampaignRecord?, _ app: Int) throws -> String? {
        guard let campaign else { return try releaseApp(app) }
        switch number % 5 {
        case 0: return try pause(campaign)
        case 1, 2: return try resume(campaign)
        case 3: return campaign.state.isFinal ? try retry(campaign) : try release(campaign)
        default:
            // Done before, it changes nothing, and no row says so.
            return campaign.state == .cancelled ? nil : try cancel(campaign)
        }
    }

    /// What a person would call another thing than was shown; nil: nothing. By rules of its own: this is what holds those of the relay.
    private static func change(_ shown: Shown, _ now: Shown) -> String? {
        for (fact, value) in shown.facts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let current = now.facts[fact] ?? .nothing
            if value == current { continue }
            if fact == .devices, case .number(let old) = value, case .number(let new) = current,
                new * 10 >= old * 9, new * 10 <= old * 11
            {
                continue
            }
            return "\(fact.words) was \(value.words) and is \(current.words)"
        }
        return nil
    }
}
