// SPDX-License-Identifier: Apache-2.0
package import HTTP2
package import RelayEngine
package import UpgradeRules

/// One app's way to a kind of push service: the form of a push on the wire and the meaning of its answer.
///
/// The seam between the fan-out and APNs, or another push service. A campaign chooses its provider once; every call below is for
/// a whole batch, so that nothing is looked up per push. Called on the fan-out's thread, but for `answerJudge`.
package protocol PushProvider: Sendable {
    /// As people know it: "APNs".
    var name: String { get }
    /// Equal where two providers send the same pushes with the same credential: a reload that changes nothing keeps connections.
    var identity: AnyHashable { get }
    /// Equal where the push service sees one credential: its answers about it concern all that use it.
    var credential: AnyHashable { get }
    /// Judges answers for the connection they came on, on the lane's thread.
    var answerJudge: any AnswerJudge { get }
    /// A push that tries the configuration; nil: there is none. Default nil.
    var trial: TrialPush? { get }
    /// The address that gives out its credentials; nil: the relay makes them. Default nil.
    var credentialURL: String? { get }
    /// Whether the provider has two environments: a token that one calls bad may be the other's.
    var hasSandbox: Bool { get }
    /// The approximate number of bytes that a push adds to a batch's arena.
    var bytesPerPush: Int { get }
    /// The library that carries its requests. Default nghttp2.
    var transport: Transport { get }
    /// The most pushes that one of its requests carries. Default one.
    var pushesPerRequest: Int { get }

    /// Checks whether the payload can be sent at all.
    ///
    /// - Parameter longestTelephone: the bytes kept free for a telephone, in JSON.
    /// - Throws: `PayloadError`.
    func check(_ payload: UpgradePayload, longestTelephone: Int) throws

    /// The body of one push, for display, and its size as the service counts it.
    ///
    /// - Parameter timeToLive: the time to live that it would be sent with now.
    func sample(_ payload: UpgradePayload, telephone: String, timeToLive: Duration) -> (body: [UInt8], size: Int)

    /// Makes the part that all pushes of a campaign share at this moment.
    ///
    /// - Parameters:
    ///   - campaign: its public id.
    ///   - authority: the service's host and port, as a request names them.
    /// - Throws: `CredentialPending` where sending waits for a credential, `UnusableCredential` where it waits for an operator,
    ///   or another error that keeps the credential from being used, such as `SigningError`.
    func template(
        for payload: UpgradePayload, of campaign: String, authority: String, expiresAt: Timestamp, at now: Timestamp
    ) throws -> PushTemplate

    /// Appends a push for each target, in their order, to a batch made with a template of the payload: in as few requests as
    /// `pushesPerRequest` allows.
    ///
    /// - Parameters:
    ///   - arena: holds the targets' bytes.
    ///   - campaign: the campaign's public id, from which the push's own id is made.
    func append(_ targets: [PushTarget], of arena: [UInt8], campaign: [UInt8], to batch: RequestBatch)

    /// The targets, by place, that no push can be sent to, whatever the service would answer, each with the reason; ascending.
    func refusals(
        of targets: [PushTarget], in arena: [UInt8], _ payload: UpgradePayload
    ) -> [(place: Int, reason: String)]

    /// The outcome of a request, by its answer: that of each of its pushes, unless the answer names some of them.
    func outcome(of answer: Answer, in batch: RequestBatch, at now: Timestamp) -> PushOutcome

    /// The outcomes of the pushes that an answer names, where the request carries several; the request's other pushes
    /// were taken.
    ///
    /// - Parameters:
    ///   - targets: the request's own, with their places in the batch; `arena` holds their bytes.
    /// - Returns: ascending by place; nil where the answer names none: it is about all of them alike.
    func outcomes(
        namedBy answer: Answer, in batch: RequestBatch, among targets: ArraySlice<PushTarget>, of arena: [UInt8],
        at now: Timestamp
    ) -> [PushException]?

    /// The pushes, by place, whose token the service called bad where it was sent. Only for a provider with two
    /// environments, whose requests carry one push each.
    func badTokens(in batch: RequestBatch) -> [Int]

    /// Whether one of the answers asks for a pause of everything that uses this credential.
    func wantsPause(_ batch: RequestBatch) -> Bool

    /// The reasons of a 5xx that concern the server behind one connection, which is dropped, and not the service.
    var connectionReasons: Set<String> { get }

    /// All reasons that a push can have, except the bare status of an answer: a bounded set of labels.
    var knownReasons: Set<String> { get }

    /// Renews the template's credential, which the service called expired.
    func renewCredential(after template: PushTemplate, at now: Timestamp) throws -> CredentialRenewal

    /// Forgets an earlier refusal, whose cause may have been corrected, as when a campaign begins or goes on.
    func forgetRefusal()

    /// Lets a missing credential be asked for at once, because an operator does not want to wait.
    func askAtOnce()

    /// Calls `body` once, from any thread: when the question for a credential has been answered or has failed, or at
    /// once if none is under way.
    func whenCredentialIsKnown(_ body: @escaping @Sendable () -> Void)

    /// The quota that its pushes count towards; nil: there is none.
    var quota: QuotaLimit? { get }

    /// Notes a server's pause: nothing that uses this credential may be sent to it before `time`, also after a restart.
    /// If a second server asks for a pause before this one ends, the pause holds for all servers.
    func pauseCredential(until time: Timestamp, by server: String, at now: Timestamp)

    /// Stores a credential, or its pause, that the store refused before. Called when it has taken a batch's outcomes.
    func saveCredentialAgain()

    /// The end of the pause that a server has asked for, and the server's reason; nil: there is no pause.
    func credentialPause(at server: String, now: Timestamp) -> (until: Timestamp, reason: String)?

    /// Why a campaign is suspended and what its operator can do.
    ///
    /// - Parameter refused: how many of the first pushes were refused; for `.mostlyRefused` and `.mostlyUnregistered`.
    func explain(
        _ fault: SendingFault, reason: String, refused: (pushes: Int, of: Int)?, _ place: SendingPlace
    ) -> String
}

extension PushProvider {
    /// The name of the provider's part of the configuration, and of its faults: "apns".
    package var section: String { name.lowercased() }

    /// The outcomes of the pushes that the service did not simply take, in the batch's order.
    ///
    /// - Parameters:
    ///   - targets: the batch's, push after push; `arena` holds their bytes.
    package func exceptions(
        in batch: RequestBatch, to targets: [PushTarget], of arena: [UInt8], at now: Timestamp
    ) -> [PushException] {
        batch.answers.enumerated().filter { !$1.isPlainSuccess }.flatMap { request, answer in
            let pushes = batch.pushes(of: request)
            if pushesPerRequest > 1,
                let named = outcomes(namedBy: answer, in: batch, among: targets[pushes], of: arena, at: now)
            {
                return named
            }
            let outcome = outcome(of: answer, in: batch, at: now)
            return pushes.map { PushException(push: $0, outcome: outcome) }
        }
    }

    // Defaults for a provider whose requests carry one push each, by HTTP/2.
    package var transport: Transport { .nghttp2 }
    package var pushesPerRequest: Int { 1 }
    package func outcomes(
        namedBy answer: Answer, in batch: RequestBatch, among targets: ArraySlice<PushTarget>, of arena: [UInt8],
        at now: Timestamp
    ) -> [PushException]? { nil }

    // Defaults for a provider with one environment, whose service asks for no pauses.
    package var hasSandbox: Bool { false }
    package func badTokens(in batch: RequestBatch) -> [Int] { [] }
    package func wantsPause(_ batch: RequestBatch) -> Bool { false }
    package var connectionReasons: Set<String> { [] }
    package func pauseCredential(until time: Timestamp, by server: String, at now: Timestamp) {}
    package func saveCredentialAgain() {}
    package func credentialPause(at server: String, now: Timestamp) -> (until: Timestamp, reason: String)? { nil }

    package var trial: TrialPush? { nil }

    // Defaults for a provider that makes its credentials itself and has no quota.
    package var credentialURL: String? { nil }
    package func forgetRefusal() {}
    package func askAtOnce() {}
    package func whenCredentialIsKnown(_ body: @escaping @Sendable () -> Void) { body() }
    package var quota: QuotaLimit? { nil }

    // APNs takes and counts the payload as it is.
    package func sample(
        _ payload: UpgradePayload, telephone: String, timeToLive: Duration
    ) -> (body: [UInt8], size: Int) {
        let body = payload.render(userTelephone: telephone)
        return (body, body.count)
    }
}

/// The target of one push: slices of the batch's arena.
package struct PushTarget: Sendable {
    package var token: ByteSlice
    package var telephone: ByteSlice
    package var device: Int64

    package init(token: ByteSlice, telephone: ByteSlice, device: Int64) {
        self.token = token
        self.telephone = telephone
        self.device = device
    }
}

/// The part that all pushes of a campaign share, with the credential of one moment.
package struct PushTemplate: Sendable {
    package let request: RequestTemplate
    /// When its credential was made.
    package let credentialMadeAt: Timestamp
    /// The credential's number, if its maker numbers them. Default 0.
    package var credentialNumber: Int

    package init(request: RequestTemplate, credentialMadeAt: Timestamp, credentialNumber: Int = 0) {
        self.request = request
        self.credentialMadeAt = credentialMadeAt
        self.credentialNumber = credentialNumber
    }
}

/// A push that the service did not simply take.
package struct PushException: Sendable, Hashable {
    /// Its place in the batch, push after push.
    package var push: Int
    package var outcome: PushOutcome

    package init(push: Int, outcome: PushOutcome) {
        (self.push, self.outcome) = (push, outcome)
    }
}

/// The place where pushes were refused, as the operator knows it.
package struct SendingPlace: Sendable {
    /// The app's name in the configuration.
    package var app: String
    /// The app's part of the configuration, such as `apps["com.example.app"].ios`.
    package var section: String
    /// "https://api.push.apple.com".
    package var server: String
    /// The campaign's id; empty for a push outside of any.
    package var campaign: String
    package var now: Timestamp
    /// Whether only a restart takes up a new key, certificate or account: systemd reads credentials when it starts a service
    /// (systemd.exec(5), LoadCredential=). False where all of them are files that the relay reads itself.
    package var secretsNeedRestart = true

    package init(app: String, section: String, server: String, campaign: String, now: Timestamp) {
        self.app = app
        self.section = section
        self.server = server
        self.campaign = campaign
        self.now = now
    }
}

// The texts for an operator that all services share.
extension SendingPlace {
    func share(_ refused: (pushes: Int, of: Int)?) -> String {
        let (pushes, of) = refused ?? (0, 0)
        return campaign.isEmpty
            ? "the push was refused by \(server)"
            : "\(pushes) of the first \(of) pushes of \(app) were refused by \(server)"
    }

    /// - Parameter word: the service's reason. The counted answers may have been good ones, which carry no reason.
    func mostlyUnregistered(_ word: String, _ refused: (pushes: Int, of: Int)?, _ fields: String) -> String {
        let (pushes, of) = refused ?? (0, 0)
        return say(
            word,
            "\(pushes) of the last \(of) tokens of \(app) are no longer registered, says \(server), far more than in its "
                + "earlier campaigns; none was given up",
            "\(fields), and where these tokens came from; if they really are dead, resume and they are retired",
            after: .elsewhere)
    }

    /// The kind of correction, which decides what the daemon has to do before the campaign can go on.
    enum Correction {
        /// Nothing in the daemon.
        case elsewhere
        /// A key of the configuration: a reload.
        case configuration
        /// A secret, or the choice of the secret: a reload, or a restart, which keeps the sockets open.
        case secret
    }

    func say(_ reason: String, _ what: String?, _ check: String, after correction: Correction = .secret) -> String {
        // A test push belongs to no campaign.
        if campaign.isEmpty { return "\(what ?? reason). Check \(check)" }
        let command: String? =
            switch correction {
            case .elsewhere: nil
            case .configuration: "reload"
            case .secret: secretsNeedRestart ? "restart" : "reload"
            }
        return "\(reason)\(what.map { ": \($0)" } ?? ""). Check \(check). Then: "
            + (command.map { "systemctl \($0) upgrade-relay && " } ?? "") + "upgrade-relay campaigns resume \(campaign)"
    }
}
