// SPDX-License-Identifier: Apache-2.0

/// Why nothing is sent to a push service for now. Each cause ends by itself except `stopped`; `campaigns resume` ends all that
/// can end.
package struct SendingWait: Sendable, Equatable {
    /// The gravest first. The raw values are the metric's.
    package enum Cause: String, Sendable, CaseIterable, Comparable {
        /// The service asks for a pause of the key: 25 minutes at most.
        case keyPause
        /// The campaign goes on without this service, whose credential an operator has to repair.
        case stopped
        /// No connection is available: it is dialled at least every 75 seconds.
        case unreachable
        /// 5xx to nearly every push: probed at least every 6 minutes, or after `Retry-After`, 75 minutes at most.
        case outage
        /// No access token is available: it is asked for at least every 5 minutes, or after `Retry-After`, an hour at most.
        case credential
        /// 429 to many pushes: 19 minutes at most, or after `Retry-After`, 75 minutes at most.
        case quota
        /// The service asks that no campaign begins around a quarter of an hour: 2 minutes at most.
        case quarterHour

        package static func < (left: Cause, right: Cause) -> Bool {
            guard let left = allCases.firstIndex(of: left), let right = allCases.firstIndex(of: right) else {
                return false
            }
            return left < right
        }
    }

    package var cause: Cause
    /// For people: the cause, and when it ends.
    package var text: String
}
