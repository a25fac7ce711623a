// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayDaemon
import RelayEngine
import RelayStore
import Requirements

/// The hours of an app's day, in integers, for zones whose clocks are never set; the other zones have a table (`SendingHoursTests`).
struct SimulatedHours {
    private static let zones = [("UTC", 0), ("Asia/Shanghai", 480), ("America/Bogota", -300), ("Asia/Kathmandu", 345)]

    /// The begin in minutes past midnight, and the length in minutes.
    let from: Int
    let length: Int
    private let zone: (name: String, ahead: Int)

    /// nil: at any time.
    init?(_ number: Int) {
        guard number > 0 else { return nil }
        (from, length) = (number * 437 % 1440, 60 + number * 71 % 1320)
        zone = Self.zones[number % Self.zones.count]
    }

    /// As the configuration has it.
    var text: String {
        func time(_ minutes: Int) -> String {
            let padded = [minutes % 1440 / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return padded.joined(separator: ":")
        }
        return #"hours: { from: "\#(time(from))", to: "\#(time(from + length))", zone: "\#(zone.name)" }"#
    }

    /// For how long pushes may have begun, in milliseconds; below 0: for how long they may not.
    ///
    /// - Parameter time: milliseconds since 1970.
    func standing(at time: Int64) -> Int64 {
        let day: Int64 = 86_400_000
        let past = (time + Int64(zone.ahead - from) * 60_000) % day
        let end = Int64(length) * 60_000
        return past < end ? past : end - 1 - past
    }
}

extension World {
    /// For how long a campaign's pushes have been allowed to begin, as far as hours are concerned.
    func awake(_ app: Int, _ campaign: String) -> Duration {
        let always = Duration.seconds(1 << 40)
        guard let hours = settings.hours(app) else { return always }
        let standing = Duration.milliseconds(max(hours.standing(at: clock.now.wall.milliseconds), 0))
        guard let since = model.urgentAt(of: campaign) else { return standing }
        return max(standing, .milliseconds(milliseconds - since))
    }

    /// Nothing is begun outside an app's hours. A push that leaves a lane in the second after them had already begun. Nothing is judged by
    /// a clock that was set, or just after the configuration was read.
    func judgeHours(_ push: SeenPush) {
        guard let hours = settings.hours(push.app), !wasClockSet, tick - quietSince > .milliseconds(Model.wayGrace),
            model.urgentAt(of: push.campaign) == nil
        else { return }
        let standing = hours.standing(at: clock.rightTime.milliseconds)
        guard standing < -1000 else { return }
        model.broke(
            "push.hours",
            "push \(push.id) of campaign \(push.campaign) leaves \(-standing / 60_000) min after the hours of app \(push.app)"
        )
    }

    /// A campaign that is wanted at once does not show the hours as its reason, also after a restart.
    func judgeUrgency() {
        guard !isDiskFailing else { return }
        for (id, known) in told.sorted(by: { $0.key < $1.key }) where known.campaign.state == "running" {
            guard model.campaigns[id]?.urgentAt != nil, model.campaigns[id]?.reminders == 0,
                let record = try? relay?.store.campaign(id: id),
                record.figures.rounds.allSatisfy({ $0.kind == .retry }),
                let reason = try? relay?.control.status(record).record.facts.reason,
                reason.hasPrefix("outside the app's hours")
            else { continue }
            model.broke("campaign.urgent", "campaign \(id) is wanted at once, and says: \(reason)")
        }
    }
}
