// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements
import Telemetry

/// Promises about the push services' troubles: which of them the relay sees, and which devices they hold up.
extension World {
    /// The relay takes a push service for out, for which the service must have refused most pushes of late; or no longer takes it for out.
    func noteOutage(_ message: String, _ fields: Log.Fields) {
        let begins = message == "the push service answers 5xx: sending is held"
        let ends = [
            "the push service takes pushes again: sending goes on", "the push service is not waited for any more",
        ]
        guard begins || ends.contains(message), let name = fields.first(where: { $0.0 == "app" })?.1,
            let app = settings.apps.first(where: { settings.key($0).app == name })
        else { return }
        let place = PushPlace(app: app, isSandbox: fields.contains { $0.0 == "environment" && $0.1 == "sandbox" })
        let campaign = fields.first { $0.0 == "campaign" }?.1
        switch (begins, campaign) {
        // A service that no campaign is sent by gets nothing.
        case (true, nil): break
        case (true, let campaign?): outages[place, default: [:]][campaign] = (tick, 0)
        case (false, let campaign?):
            observeCampaigns()
            outages[place] = outages[place]?.filter { !isSent(campaign, byServiceOf: $0.key) }
        // No campaign is sent by the service any more, so no line names one.
        case (false, nil): outages[place] = nil
        }
        guard begins, let weather = services[place]?.weather, [.good, .someFail].contains(weather),
            lasts(place) > .seconds(120),
            // Excused where it has refused all pushes that it was sent for the first time, as chance or a canary may bring about; and where
            // devices move to the environment that takes their pushes, so that the failing ones are left.
            pushes.firstAnswers[place, default: []].contains(true), settings.setup["astray", app] == 0,
            // Excused where only devices that failed in this weather are sent to: it refuses them all again.
            sentAgainAt[app].map({ tick - $0 > lasts(place) }) ?? true
        else { return }
        model.broke("service.imagined", "sending to \(place.host) is held, and it is \(weather)")
    }

    /// Whether a campaign is sent by the service that was held while it sent another one: campaigns that go on beside each other have
    /// services of their own, each block has one, and a campaign takes over the service of one that it has superseded.
    func isSent(_ campaign: String, byServiceOf other: String) -> Bool {
        let both = [campaign, other]
        return campaign == other
            || both.allSatisfy { model.block(of: $0) == nil }
                && !both.allSatisfy { told[$0]?.campaign.state == "running" }
    }

    /// How long a place has had its weather.
    func lasts(_ place: PushPlace) -> Duration { weatherSince[place].map { tick - $0 } ?? .seconds(1 << 40) }

    /// Production's devices are sent to while the sandbox takes nothing: within minutes, or where pushes are tried again, within the four
    /// hours and a quarter that a retry may be put off. In waves, the pause between two of them comes on top. Not judged where a person or
    /// a share of failures decides on the next wave.
    func judgeSandbox() {
        for (id, known) in told.sorted(by: { $0.key < $1.key }) where known.campaign.state == "running" {
            let (campaign, app) = (known.campaign, known.campaign.app)
            let (sandbox, production) = (PushPlace(app: app, isSandbox: true), PushPlace(app: app, isSandbox: false))
            let isRetried = campaign.counts["retrying"] != 0
            let stands = min(tick - max(known.since, quietSince), awake(app, id))
            let trouble: Set<Weather> = [.unreachable, .serverErrors, .closed, .badKey, .keyPause]
            guard services[sandbox].map({ trouble.contains($0.weather) }) ?? false, lasts(sandbox) > .seconds(2400),
                services[production]?.weather == .good, lasts(production) > .seconds(6 * 3600),
                campaign.waves == 0 || settings.setup["approval", app] + settings.setup["failed", app] == 0,
                settings.hasApp[app], !wasClockSet,
                stands > (isRetried ? .seconds(5 * 3600) : .seconds(2400)) + between(app),
                let facts = model.campaigns[id], let record = try? relay?.store.campaign(id: id), !record.isCanary
            else { continue }
            let required = model.announcements[facts.announcement]
            // A device that production called wrong in a bad hour has had its answer.
            let wrong = pushes.calledWrong[id, default: []]
            let waiting = untold(app, required).filter { !$0.isSandbox && !$0.isAstray && !wrong.contains(token($0)) }
            guard let phone = waiting.first else { continue }
            model.broke(
                "service.sandbox",
                "phone \(phone.number) of app \(app) waits for campaign \(id), and only the sandbox is in trouble")
        }
    }

    /// The pause between two waves of an app.
    private func between(_ app: Int) -> Duration {
        settings.setup["waves", app] == 0 ? .zero : .seconds(60 * settings.setup["pause", app])
    }
}
