// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore

extension SourceLoop {
    /// What hangs on the track. Without what the relay's own store could tell, an edit is opened where the list changes, as ever.
    func wanted(of app: AppKey) -> [GateQuestion] {
        guard let requirements = try? runner.store.version(of: app)?.requirements else { return [] }
        let hanging = requirements.rows.filter { row in
            row.isAccepted && !requirements.isSuperseded(row)
                && (row.kind != .latest || row.state == .waiting)
        }
        return hanging.map { requirements.question($0) }
    }
}
