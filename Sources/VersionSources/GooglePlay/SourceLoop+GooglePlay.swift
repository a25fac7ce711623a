// SPDX-License-Identifier: Apache-2.0
import RelayStore

extension SourceLoop {
    /// What hangs on the track. Without what the relay's own store could tell, an edit is opened where the list changes, as ever.
    func wanted(of app: AppKey) -> [GooglePlayMachine.Requirement] {
        guard let requirements = try? runner.store.version(of: app)?.requirements else { return [] }
        let hanging = requirements.rows.filter { row in
            row.isAccepted && !requirements.isSuperseded(row)
                && (row.kind == .required || row.state == .waiting)
        }
        return hanging.map { GooglePlayMachine.Requirement($0.version, build: $0.build) }
    }
}
