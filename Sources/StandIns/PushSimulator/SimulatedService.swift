// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The push service that a simulator stands in for, with all that the service knows of its customer. A function in the
/// service's own folder makes it.
package struct SimulatedService: Sendable {
    package let kind: ServiceKind
    /// The customer, in the service's own type.
    package let customer: any Sendable
    /// Makes the rules for a simulator at a place.
    let rules: @Sendable (SimulatorPlace) -> any ServiceRules
    /// Makes the file with which the service gives the customer access, for a simulator at a place; nil: there is none.
    let accountFile: @Sendable (SimulatorPlace) -> [UInt8]?

    init(
        _ kind: ServiceKind, customer: any Sendable,
        accountFile: @escaping @Sendable (SimulatorPlace) -> [UInt8]? = { _ in nil },
        rules: @escaping @Sendable (SimulatorPlace) -> any ServiceRules
    ) {
        (self.kind, self.customer, self.accountFile, self.rules) = (kind, customer, accountFile, rules)
    }
}

/// The address and port that a simulator listens on.
struct SimulatorPlace: Sendable {
    let address: String
    let port: UInt16

    /// The host in a URL of the simulator.
    var host: String {
        if address == "0.0.0.0" || address == "::" { return "localhost" }
        return address.contains(":") ? "[\(address)]" : address
    }
}

/// The rules by which one push service judges and answers requests: the only part of a running simulator that differs from
/// service to service. A request is begun, judged and answered before the next one is begun. Belongs to the loop's thread.
protocol ServiceRules: AnyObject {
    /// The most streams of a connection that has not shown a credential yet; nil: as many as any other connection has.
    var firstStreams: Int? { get }
    /// The number of different credentials that were good.
    var credentials: Int { get }

    /// Called before anything else, so that all notes about a push have the id that its answer gives.
    func begin(_ slot: StreamSlot)
    /// The answer to a request that is not a push, such as one for an access token, with its body in the slot. nil: it is a push.
    /// - Parameter now: seconds since 1970, by the script's clock.
    func answerToOther(_ slot: StreamSlot, now: Int64, under judge: RequestJudge) -> PushAnswer?
    func verdict(
        on slot: StreamSlot, credential: inout ConnectionCredential, now: Int64, under judge: RequestJudge
    ) -> Verdict
    /// The hash of a target of the push: `ShortHash`.
    /// - Parameter place: from 0; below the number of targets that the verdict gave, if it gave one.
    func target(_ place: Int, of slot: StreamSlot) -> UInt64
    /// Fills the slot's body. Of a push to several targets, `slot.refusals` has those that were refused.
    func writeBody(of answer: PushAnswer, into slot: StreamSlot)
    /// The header field that the service sends with this answer, besides status and `retry-after`.
    func field(of answer: PushAnswer) -> AnswerHeader
    /// The push's own members of a line in the record.
    func record(_ slot: StreamSlot, into line: inout JSONWriter)
    /// The debug data of a GOAWAY.
    func goAwayText(_ reason: String) -> [UInt8]
    /// Called when another script begins.
    func scriptChanged()
}

/// A service's decision about one push.
package enum Verdict: Sendable, Hashable {
    /// 200.
    case accepted
    /// 200, and so many targets are each accepted or refused by the script: the answer's body names the refused ones.
    case each(Int)
    /// 200, and no device gets a push: a dry run.
    case validated
    case rejected(RejectionReason)
}

enum AnswerHeader {
    /// `apns-id` with the slot's id.
    case id
    /// `content-type` of JSON.
    case json
    /// `content-type` of a page for people.
    case page
}
