// SPDX-License-Identifier: Apache-2.0
package import RelayStore
package import Telemetry

extension AuditStore {
    /// Notes what was done beside the store. It is done by now, and may be what mends a store that takes nothing: where that refuses the
    /// row, the log has it.
    package func note(_ entry: AuditEntry, log: Log) {
        do {
            try note(entry)
        } catch {
            log(
                .error, "what was done could not be noted in the audit trail",
                [("action", entry.action), ("by", entry.actor.name), ("error", "\(error)")])
        }
    }
}
