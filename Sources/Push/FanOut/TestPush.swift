// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTP2
import PushProviders
package import RelayEngine
package import RelayStore
import Synchronization
import UpgradeRules
import WireFormat

/// One push outside of any campaign, to try a credential, a topic and a way to the service: made by the app's own provider and
/// sent by the same transport, over a connection of its own, so that no campaign waits for it or notices it. Nothing is recorded.
package struct TestPush: Sendable {
    package var route: AppRoute
    package var token: String
    /// The telephone that the app compares with its user's; empty where no user is known.
    package var telephone: String
    package var channel: Channel
    package var message: String?
    package var downloadURL: String

    package init(
        route: AppRoute, token: String, telephone: String, channel: Channel, message: String?,
        downloadURL: String
    ) {
        self.route = route
        self.token = token
        self.telephone = telephone
        self.channel = channel
        self.message = message
        self.downloadURL = downloadURL
    }

    private var provider: any PushProvider { route.service(channel).provider }

    /// Sends it and waits for the answer, for as long as dialling and an answer may take.
    package func send(clock: () -> Timestamp, random: RandomSource = .system) -> TestPushResult {
        let pool = route.service(channel).pool
        // As in a campaign: the push's own id is made from this id.
        let id = PushID.newCampaign(random)
        var result = TestPushResult(
            state: .failed, pushID: PushID.text(campaign: id, device: 1), server: "https://\(pool.origin.authority)")
        do {
            // A second attempt where only the provider token was too old: in a campaign, too, the relay renews it and goes on.
            for isLast in [false, true] {
                let now = clock()
                // Without a target version: the operator must see the push also on a phone whose app is up to date.
                let payload = route.payload(message: message, downloadURL: downloadURL, target: nil, build: nil)
                var arena: [UInt8] = []
                let target = target(in: &arena)
                if let refusal = provider.refusals(of: [target], in: arena, payload).first {
                    result.state = .rejected
                    result.reason = refusal.reason
                    result.remedy = "the relay itself does not send this: the token or the payload is malformed"
                    return result
                }
                let template = try template(payload, of: id, pool, clock)
                let batch = RequestBatch(
                    template: template.request, tag: 0, capacity: 1, bytesPerRequest: provider.bytesPerPush)
                batch.reportsUnreachable = true
                provider.append([target], of: arena, campaign: Array(id.utf8), to: batch)
                let trouble = try exchange(batch, pool)
                let outcome =
                    provider.exceptions(in: batch, to: [target], of: arena, at: now).first?.outcome ?? .accepted
                judge(batch.answers.first, outcome, trouble, &result, at: clock())
                guard case .renewCredential = outcome, !isLast,
                    case .renewed = try provider.renewCredential(after: template, at: clock())
                else { break }
            }
        } catch let error as UnusableCredential {
            result.reason = error.reason
            result.remedy = explain(error.fault, error.reason, result.server, at: clock())
        } catch {
            result.reason = "\(error)"
            result.remedy = "the push was not sent; check \(section)"
        }
        return result
    }

    /// The provider's part of the app's configuration.
    private var section: String { "\(route.section).\(provider.section)" }

    /// Makes the template, with a credential that may have to be asked for first.
    private func template(
        _ payload: UpgradePayload, of campaign: String, _ pool: PoolConfiguration, _ clock: () -> Timestamp
    ) throws -> PushTemplate {
        func make() throws -> PushTemplate {
            let now = clock()
            return try provider.template(
                for: payload, of: campaign, authority: pool.origin.authority, expiresAt: now + .seconds(300), at: now)
        }
        do {
            return try make()
        } catch let error where error is CredentialPending || error is UnusableCredential {
            // An operator waits for this at a terminal: a credential that was refused before is asked for once more.
            if error is UnusableCredential {
                provider.forgetRefusal()
                if let template = try? make() { return template }
            }
            let isKnown = DispatchSemaphore(value: 0)
            provider.whenCredentialIsKnown { isKnown.signal() }
            _ = isKnown.wait(timeout: .now() + Self.patience)
            return try make()
        }
    }

    /// Seconds to wait for an access token.
    private static let patience = 30.0

    private func target(in arena: inout [UInt8]) -> PushTarget {
        let bytes = Array(token.utf8)
        arena = bytes + Array(telephone.utf8)
        return PushTarget(
            token: ByteSlice(offset: 0, length: UInt32(bytes.count)),
            telephone: ByteSlice(offset: UInt32(bytes.count), length: UInt32(arena.count - bytes.count)), device: 1)
    }

    // MARK: Sending

    /// - Returns: the error that kept the connection from coming up, as an operator should read it.
    private func exchange(_ batch: RequestBatch, _ pool: PoolConfiguration) throws -> String? {
        let lane: any BatchLane =
            switch provider.transport {
            case .nghttp2: try Lane(name: "test-push")
            case .libcurl: try CurlLane(name: "test-push")
            }
        defer { lane.stop(deadline: .seconds(1)) }
        var pool = pool
        pool.maximumConnections = 1
        let inbox = Inbox()
        lane.submit(batch, to: lane.addPool(pool, judge: provider.answerJudge, receiver: inbox))
        return inbox.wait()
    }

    private final class Inbox: BatchReceiver {
        private let trouble = Mutex<String?>(nil)
        private let isBack = DispatchSemaphore(value: 0)

        func finished(_ batch: RequestBatch) { isBack.signal() }

        func pool(_ pool: PoolID, carries streams: Int) {}

        func pool(_ pool: PoolID, is condition: PoolCondition) {
            if case .failing(let error, _) = condition { trouble.withLock { $0 = error } }
        }

        /// The lane hands every batch back: at the answer, when dialling failed, or when its time is over.
        func wait() -> String? {
            isBack.wait()
            return trouble.withLock(\.self)
        }
    }

    // MARK: Judging

    private func explain(_ fault: SendingFault, _ reason: String, _ server: String, at now: Timestamp) -> String {
        provider.explain(fault, reason: reason, refused: nil, route.place(server, campaign: "", at: now))
    }

    private func judge(
        _ answer: Answer?, _ outcome: PushOutcome, _ trouble: String?, _ result: inout TestPushResult, at now: Timestamp
    ) {
        result.status = answer.flatMap { $0.kind == .answered ? Int($0.status) : nil }
        let server = result.server
        func explain(_ fault: SendingFault, _ reason: String) -> String {
            self.explain(fault, reason, server, at: now)
        }
        if case .pauseCredential(let pause, _) = outcome {
            // The key's other users must take up the pause, too.
            provider.pauseCredential(until: now + pause, by: route.service(channel).pool.origin.authority, at: now)
        }
        let judged: (TestPushResult.State, reason: String?, remedy: String?) =
            switch outcome {
            case .accepted: (.accepted, nil, nil)
            case .rejected(let reason), .badToken(let reason), .invalidToken(let reason, _):
                (.rejected, reason, explain(.mostlyRefused, reason))
            case .unregistered(let reason, _):
                (
                    .unregistered, reason,
                    "the app was removed from this device, or has another token now; register its token anew"
                )
            case .fault(let reason, let fault): (.failed, reason, explain(fault, reason))
            case .reconnect(let reason): (.failed, reason, explain(.unrelatedKey, reason))
            case .renewCredential(let reason): (.failed, reason, explain(.clock, reason))
            case .pauseCredential(let pause, let reason):
                (
                    .failed, reason,
                    "the service wants a pause of this key; try again after \((now + pause).internetTime)"
                )
            case .retry(_, let reason):
                (
                    .failed, trouble ?? reason,
                    result.status == nil
                        ? "the service was not reached; check \(section): server and proxy, and this machine's network"
                        : "the service is busy or out of order; try again later"
                )
            }
        (result.state, result.reason, result.remedy) = judged
    }
}
