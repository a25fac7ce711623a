// SPDX-License-Identifier: Apache-2.0

/// When a campaign may begin: Google asks to avoid "the two minutes around :00, :15, :30, :45" (PROTOCOLS 2.4), when everybody's
/// timers go off. Read here as one minute before each quarter of an hour and one after it.
package enum QuarterHourAvoidance {
    private static let quarter = Duration.seconds(900).milliseconds
    private static let side = Duration.seconds(60).milliseconds

    /// The first moment from `now` on at which a campaign may begin: `now` itself, or the end of the two minutes.
    package static func opening(at now: Timestamp) -> Timestamp {
        let past = now.milliseconds % quarter
        // Quarters of an hour are the same in every time zone that is in use.
        if past < side { return Timestamp(milliseconds: now.milliseconds - past + side) }
        if past >= quarter - side { return Timestamp(milliseconds: now.milliseconds - past + quarter + side) }
        return now
    }
}
