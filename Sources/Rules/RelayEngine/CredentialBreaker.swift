// SPDX-License-Identifier: Apache-2.0

/// Notices when a service refuses all pushes, not single ones: the key, the topic or the server is wrong, or
/// the tokens are not this app's (PROTOCOLS 1.6). A refusal that one device alone gets is that device's outcome. One breaker
/// watches one campaign at one push service, from its start or resumption.
///
/// | cause | judged | trips at |
/// |---|---|---|
/// | fault | always | half of the last answers |
/// | refused | once, by the first `sample` answers | a share of 0.8 |
/// | unregistered | always, by `UnregisteredWindow` | `unregisteredLimit` |
///
/// A device counts once, by its final answer.
package struct CredentialBreaker: Sendable, Equatable {
    /// The number of answers that a campaign's start is judged by.
    package static let sample = 20
    /// The same for a campaign that has delivered before: the rest of a good fan-out may be a corner of bad tokens.
    package static let sampleOfProven = 100
    /// Share of refused pushes in the sample that trips the breaker.
    package static let share = 0.8
    /// The number of earlier answers that are weighed with those of a batch.
    private static let memory = 20
    /// The most pushes accepted before a pause or a restart that count for the credential: enough for a campaign to complete
    /// whose last device is always refused; few enough that a credential that was not repaired costs no more devices than
    /// this.
    private static let proof = 3

    package enum Cause: Sendable, Hashable {
        /// Refused for good because of the token, such as BadDeviceToken.
        case refused
        /// The token is no longer registered (APNs: 410).
        case unregistered
        /// Refused because of the credential, the topic or the request.
        case fault
    }

    /// The answers to some pushes. An answer that shows nothing about the credential, such as a 503, is not counted.
    package struct Answers: Sendable, Equatable {
        package var accepted = 0
        package var unregistered = 0
        package var refused = 0
        package var faults = 0

        /// Answers that prove the credential good: accepted, or refused in a way that only a real token can be.
        package var proven: Int { accepted + unregistered }
        package var count: Int { proven + refused + faults }

        static func += (sum: inout Answers, more: Answers) {
            sum.accepted += more.accepted
            sum.unregistered += more.unregistered
            sum.refused += more.refused
            sum.faults += more.faults
        }
    }

    package struct Trip: Sendable, Equatable {
        package var cause: Cause
        /// Answers of this kind.
        package var pushes: Int
        /// All answers that the breaker judged by.
        package var answers: Int

        package init(_ cause: Cause, pushes: Int, of answers: Int) {
            self.cause = cause
            self.pushes = pushes
            self.answers = answers
        }
    }

    private let size: Int
    /// The campaign's first answers; nil once they are judged.
    private var start: Answers? = Answers()
    /// The last answers, and how many of them were faults.
    private var recentAnswers: Double
    private var recentFaults = 0.0
    /// Whether the last batch had a fault among its answers.
    package private(set) var isInDoubt = false
    /// Why it tripped; nil while it has not.
    package private(set) var trip: Trip?

    /// - Parameter delivered: pushes of this campaign that the service took before.
    package init(delivered: Int64 = 0) {
        size = delivered < Self.sample ? Self.sample : Self.sampleOfProven
        recentAnswers = Double(min(delivered, Int64(Self.proof)))
    }

    /// The share of 410 that everyday loss of phones does not explain: far above what the app's earlier campaigns saw.
    ///
    /// - Parameter seen: the earlier campaigns' share; nil where there were none. The first campaign of an old registry may
    ///   well meet more dead tokens than living ones.
    package static func unregisteredLimit(seen: Double?) -> Double {
        min(share, max(0.3, (seen ?? 1) * 4))
    }

    /// Whether the start is not judged yet, so that a refused push may have to be tried again.
    package var isWatching: Bool { trip == nil && start != nil }

    /// Takes the answers of one batch; returns whether the breaker is tripped now.
    ///
    /// - Parameter unregistered: the trip that `UnregisteredWindow` reports for the batch.
    package mutating func answered(_ batch: Answers, unregistered: Trip? = nil) -> Bool {
        guard trip == nil else { return true }
        trip = unregistered
        guard trip == nil else { return true }
        judgeFaults(batch)
        if trip == nil { judgeStart(batch) }
        return trip != nil
    }

    private mutating func judgeFaults(_ batch: Answers) {
        guard batch.count > 0 else { return }
        let weight = min(1, Double(Self.memory) / max(1, recentAnswers))
        recentAnswers = recentAnswers * weight + Double(batch.count)
        recentFaults = recentFaults * weight + Double(batch.faults)
        isInDoubt = batch.faults > 0
        if isInDoubt, recentFaults * 2 >= recentAnswers {
            trip = Trip(.fault, pushes: Int(recentFaults.rounded()), of: Int(recentAnswers.rounded()))
        }
    }

    private mutating func judgeStart(_ batch: Answers) {
        guard var sum = start else { return }
        sum += batch
        start = sum
        let judged = sum.proven + sum.refused
        guard judged >= size else { return }
        start = nil
        if Double(sum.refused) >= Self.share * Double(judged) {
            trip = Trip(.refused, pushes: sum.refused, of: judged)
        }
    }
}
