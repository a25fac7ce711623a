// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

extension SourceLoop {
    /// What the track's answer came to; nil: more has to be asked.
    mutating func take(
        _ conclusion: GooglePlayMachine.Conclusion?, _ source: GooglePlaySource, _ watched: Watched
    ) {
        switch conclusion {
        case nil: break
        case .fault(let fault): report(fault, watched)
        case .evidence(let evidence): take(evidence, source, watched)
        }
    }

    /// What hangs on the track. Without what the relay's own store could tell, an edit is opened where the list changes, as ever.
    func wanted(of app: AppKey) -> [GooglePlayMachine.Requirement] {
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
