// SPDX-License-Identifier: Apache-2.0
package import RelayStore
import Requirements
package import Telemetry

extension AuditStore {
    /// Records an act that did not change the store. The act is already done, and may help repair a store that takes no
    /// writes: where the store refuses the row, the act is logged.
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
