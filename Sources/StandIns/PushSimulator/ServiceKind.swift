// SPDX-License-Identifier: Apache-2.0

/// A push service as the simulator's frame knows it: the same for all of the service's customers.
///
/// A new service is a folder and a line in `all`. The folder has its kind, its reasons, its customer's type, its rules
/// (`ServiceRules`) and the function that makes a `SimulatedService` of a customer. Its command is in a folder of the demo's
/// room, with a line in `CommandEntry.simulators`.
package struct ServiceKind: Sendable {
    /// Every service that a simulator can stand in for.
    package static let all: [ServiceKind] = [.apns, .fcm]

    /// The service's name for people.
    package let name: String
    /// The reasons for which it refuses pushes; a script may give any of them.
    package let reasons: [RejectionReason]
    package let words: ServiceWords
    /// The header fields that its rules read, besides those that the rules of all services read.
    var headers: [KnownHeader] = []
    /// Whether clients may use HTTP/1.1 instead of HTTP/2.
    var takesHTTP1 = true
    /// Whether the service gives access tokens at an endpoint of its own.
    var givesAccess = false
    /// The most streams of a connection, unless the simulator's configuration has another number.
    let maximumStreams: Int

    /// The reason that goes by this word; nil: the service has none.
    func reason(_ word: String) -> RejectionReason? { reasons.first { $0.rawValue == word } }

    /// The service's own reason for the word of `reason`, which may be another service's; `reason` itself where it has none.
    func own(_ reason: RejectionReason) -> RejectionReason { reasons.first { $0 == reason } ?? reason }
}

/// A service's own words for scripted faults.
package struct ServiceWords: Sendable {
    package var deadToken: RejectionReason
    package var badToken: RejectionReason
    /// The token belongs to another developer's app.
    package var foreignToken: RejectionReason
    package var tooMany: RejectionReason
    package var internalError: RejectionReason
    package var unavailable: RejectionReason
}
