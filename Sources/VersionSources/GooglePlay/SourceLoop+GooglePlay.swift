// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

extension SourceLoop {
    /// One question at most, so that the other sources are not kept waiting for a whole round; an edit is one.
    ///
    /// - Returns: when to come again.
    mutating func ask(
        _ source: GooglePlaySource, _ machine: inout GooglePlayMachine, _ watched: Watched
    ) -> Timestamp {
        let conclusion: GooglePlayMachine.Conclusion?
        switch machine.next(at: runner.clock()) {
        case .wait(let time): return time
        case .discard(let edit):
            let gone = withToken(of: source) { client in .success(client.discard(edit)) }
            machine.discarded(isGone: (try? gone.get()) ?? false)
            return runner.clock()
        case .list:
            let answer = withToken(of: source) { client in Result(catching: client.releases) }
            conclusion = machine.listed(answer, wanted: wanted(of: watched.source.app), at: runner.clock())
        case .readTrack:
            var leftover: String?
            let answer = withToken(of: source) { client in
                let read = client.rollouts()
                leftover = read.leftover
                return read.answer
            }
            conclusion = machine.read(answer, leftover: leftover, at: runner.clock())
        }
        switch conclusion {
        case nil: return runner.clock()
        case .fault(let fault): report(fault, watched)
        case .evidence(let evidence): take(evidence, source, watched)
        }
        if case .wait(let time) = machine.next(at: runner.clock()) { return time }
        return runner.clock()
    }

    /// A token that Google Play does not take is exchanged once.
    private mutating func withToken<Answer>(
        of source: GooglePlaySource, _ body: (GooglePlayClient) -> Result<Answer, GooglePlayClient.Refusal>
    ) -> Result<Answer, SourceFault> {
        do throws(SourceFault) {
            for isLast in [false, true] {
                let token = try googleTokens.token(for: source, runner.client)
                let client = GooglePlayClient(
                    source: source, token: token, clock: runner.clock, isStopping: runner.client.isStopping)
                switch body(client) {
                case .success(let answer): return .success(answer)
                case .failure(.fault(let fault)): return .failure(fault)
                case .failure(.token(let fault)):
                    googleTokens.rejected(token, of: source)
                    if isLast { return .failure(fault) }
                }
            }
            throw SourceFault("Google Play takes no token")
        } catch {
            return .failure(error)
        }
    }

    /// What hangs on the track. Without what the relay's own store could tell, an edit is opened where the list changes, as ever.
    private func wanted(of app: AppKey) -> [GooglePlayMachine.Requirement] {
        typealias Requirement = GooglePlayMachine.Requirement
        guard let inForce = try? runner.store.version(of: app)?.inForce,
            let waiting = try? runner.store.waitingVersions(of: app)
        else { return [] }
        return [inForce.required.map { Requirement($0, build: inForce.builds.required) }].compactMap(\.self)
            + waiting.required.compactMap { one in one.required.map { Requirement($0, build: one.builds.required) } }
            + waiting.latest.compactMap { one in one.latest.map { Requirement($0, build: one.builds.latest) } }
    }

    private mutating func take(_ evidence: GooglePlayEvidence, _ source: GooglePlaySource, _ watched: Watched) {
        runner.status.note(.googlePlay(evidence), of: watched.source.app)
        do throws(SourceFault) {
            if let release = evidence.offeredToAll, let version = release.version {
                try raiseLatest(
                    version, build: release.build, page: source.page, watched.source.app, from: .googlePlay)
            }
            recovered(watched)
        } catch {
            report(error, watched)
        }
    }
}
