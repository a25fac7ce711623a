// SPDX-License-Identifier: Apache-2.0
package import RelayStore
import StoreSQL

extension PostgresStore {
    /// Checks the relay's own rules for its rows. The server checks pages and indexes better: `pg_amcheck`.
    package func check(begins: (String) -> Bool) throws -> [StoreFault] {
        try look(.long, "checking the store", isSnapshot: true) { session in
            var examination = StoreExamination(connection: session)
            for step in StoreExamination<PostgresSession>.ofRows {
                guard begins(step.name) else { throw StoreError(.failed, context: "the check was given up") }
                try examination.run(step)
            }
            return examination.faults
        }
    }
}
