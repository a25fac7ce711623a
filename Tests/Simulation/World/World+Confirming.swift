// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements

/// People who act by what they were shown some steps ago.
extension World {
    /// A person's look at a campaign, or at an app.
    struct Look {
        /// nil: the look was at what a release of the app would let through.
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

    /// An act by what was shown: refused if that no longer holds, else done.
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
            // A second cancel changes nothing and has no row in the audit trail.
            return campaign.state == .cancelled ? nil : try cancel(campaign)
        }
    }

    /// The first difference that a person would see between what was shown and what is; nil: none. By rules of its own, which the relay's
    /// rules are compared with.
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
