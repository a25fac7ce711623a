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
            machine.discarded(isGone: runner.questions.discard(edit, of: source))
            return runner.clock()
        case .list:
            let answer = runner.questions.releases(of: source)
            conclusion = machine.listed(answer, wanted: wanted(of: watched.source.app), at: runner.clock())
        case .readTrack:
            let read = runner.questions.rollouts(of: source)
            conclusion = machine.read(read.answer, leftover: read.leftover, at: runner.clock())
        }
        switch conclusion {
        case nil: return runner.clock()
        case .fault(let fault): report(fault, watched)
        case .evidence(let evidence): take(evidence, source, watched)
        }
        if case .wait(let time) = machine.next(at: runner.clock()) { return time }
        return runner.clock()
    }

    /// What hangs on the track. Without what the relay's own store could tell, an edit is opened where the list changes, as ever.
    private func wanted(of app: AppKey) -> [GooglePlayMachine.Requirement] {
        guard let requirements = try? runner.store.version(of: app)?.requirements else { return [] }
        let hanging = requirements.rows.filter { row in
            row.isAccepted && !requirements.isSuperseded(row)
                && (row.kind == .required || row.state == .waiting)
        }
        return hanging.map { GooglePlayMachine.Requirement($0.version, build: $0.build) }
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
