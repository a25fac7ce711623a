// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension SourceRunner {
    /// When the key may ask next; nil: now, and the right is taken.
    func pace(_ source: AppStoreConnectSource) -> Timestamp? {
        let now = clock()
        return status.write {
            $0.paces[source.paceName, default: LookupPace(spacing: source.spacing)].take(at: now)
        }
    }

    /// Heeds for all apps of the key that it is asked too often.
    func blockIfThrottled(
        _ answer: Result<AppStoreConnectMachine.Answer, SourceFault>, _ source: AppStoreConnectSource
    ) {
        guard case .failure(let fault) = answer, fault.isThrottled else { return }
        let pause = min(max(fault.retryAfter ?? .seconds(60), .seconds(1)), PollSchedule.longestRetryAfter)
        let end = clock() + pause
        status.write {
            $0.paces[source.paceName, default: LookupPace(spacing: source.spacing)].block(until: end)
        }
    }

    /// The newest version that App Store Connect has live now. Blocks.
    func live(of app: AppKey, _ source: AppStoreConnectSource) throws -> StoreListing? {
        var machine = AppStoreConnectMachine(source: source, start: Timestamp(milliseconds: 0))
        let deadline = clock() + .seconds(15)
        while case .ask(let question) = machine.next(at: clock()) {
            if let free = pace(source) {
                guard free <= deadline, !isStopping else {
                    throw SourceFault("App Store Connect wants to be left alone for now; it is asked again later")
                }
                // A thread that may block, and at most the key's spacing.
                rest(free - clock())
                continue
            }
            let said = questions.connect(question, source)
            blockIfThrottled(said.answer, source)
            let before = status.releases(of: app)
            switch machine.answered(said.answer, rate: said.rate, before: before, at: clock()) {
            case nil: continue
            case .evidence(let evidence):
                status.note(.appStoreConnect(evidence), of: app)
                poke()
                return evidence.offered.map { StoreListing(version: $0.version, trackViewURL: source.page) }
            case .fault(let fault): throw fault
            }
        }
        return nil
    }
}

extension SourceStatus {
    /// What App Store Connect said last.
    func releases(of app: AppKey) -> AppStoreConnectEvidence? {
        read { state in
            if case .appStoreConnect(let evidence) = state.evidence[app]?[.appStoreConnect] { evidence } else { nil }
        }
    }
}
