// SPDX-License-Identifier: Apache-2.0
package import RelayAPI
package import RelayEngine
import WireFormat

/// Texts about an app's sending hours where they hold pushes back. Pure.
extension SendingHours {
    /// "08:00 to 22:00 Asia/Shanghai, where it is 22:10"
    private func standing(at now: Timestamp) -> String { "\(self), where it is \(clock(at: now))" }

    /// The wait of a campaign that would send now; nil where it may.
    func wait(of campaign: String, expiresAt: Timestamp, at now: Timestamp) -> HoursWait? {
        guard let opening = opening(after: now) else { return nil }
        let end = expiresAt <= opening ? ", but the campaign's time to live ends before that" : ""
        return HoursWait(
            until: opening,
            text:
                "outside the app's hours (\(standing(at: now))): sending goes on by itself at \(opening.internetTime)\(end); "
                + "\"campaigns resume \(campaign) --now\" sends at once")
    }

    /// The wait for pushes of a requirement that would come into force at `start`; nil where they may begin then.
    package func wait(from start: Timestamp, timeToLive: Duration, at now: Timestamp) -> HoursWait? {
        guard let opening = opening(after: start) else { return nil }
        let at = start > now ? "it comes into force at \(start.internetTime), " : ""
        let end = start + timeToLive <= opening ? ", and the campaign's time to live ends before that" : ""
        return HoursWait(
            until: opening,
            text:
                "\(at)outside the app's hours (\(standing(at: start))): nothing is pushed before \(opening.internetTime)\(end); "
                + "with --now (\"now\": true) pushes go out at once")
    }
}
