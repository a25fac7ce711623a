// SPDX-License-Identifier: Apache-2.0
import HTTP2
import PushProviders
import RelayEngine
import RelayStore

/// The second tries of a batch: pushes for tokens that the service called bad, to the app's other environment, once in a batch.
struct SecondTries {
    /// On their way, or back; nil: none were made.
    private(set) var requests: Batch.Requests?
    /// Whether none were made because of the app's hours, a pause of the credential, or a claim that may be lost.
    var isDenied = false

    /// Builds the requests for all tokens of the batch that the service called bad.
    ///
    /// - Returns: the requests to send; nil where no token was bad, or where they were built before.
    mutating func make(of batch: Batch, with template: PushTemplate) -> RequestBatch? {
        guard requests == nil, let load = batch.load, let sent = load.sent else { return nil }
        let provider = load.service.provider
        let bad = provider.badTokens(in: sent.requests.batch)
        guard !bad.isEmpty else { return nil }
        let made = RequestBatch(
            template: template.request, tag: load.tag, capacity: bad.count, bytesPerRequest: provider.bytesPerPush)
        // The batch must not wait for a server that is only asked as a check.
        made.reportsUnreachable = true
        let targets = bad.map { sent.requests.targets[$0] }
        provider.append(targets, of: batch.devices.bytes, campaign: load.run.idBytes, to: made)
        requests = Batch.Requests(batch: made, targets: targets, rows: bad.map { sent.requests.rows[$0] })
        return made
    }
}

extension Batch {
    /// None before it was sent.
    var secondTries: SecondTries { load?.sent?.secondTries ?? SecondTries() }

    /// Whether one of its answers calls for a pause of the credential.
    var wantsPause: Bool {
        guard let load, let sent = load.sent else { return false }
        return load.service.provider.wantsPause(sent.requests.batch)
    }
}
