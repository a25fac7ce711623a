// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Requirements

extension SourceLoop {
    /// The requirements that hang on the track. None if the relay's store cannot be read; an edit is then opened only
    /// where the list changes.
    func wanted(of app: AppKey) -> [GateQuestion] {
        guard let requirements = try? runner.store.version(of: app)?.requirements else { return [] }
        let hanging = requirements.rows.filter { row in
            row.isAccepted && !requirements.isSuperseded(row)
                && (row.kind != .latest || row.state == .waiting)
        }
        return hanging.map { requirements.question($0) }
    }
}
