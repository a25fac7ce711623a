// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore

extension SQLiteStore {
    package func keep(
        _ answer: StoredAnswer, to receipt: WebhookReceipt, at now: Timestamp
    ) throws -> StoredAnswer {
        try write("storing a webhook") { connection in
            if let known = try WebhookTable.answer(to: receipt, connection) { return known }
            try WebhookTable.store(answer, for: receipt, at: now, connection)
            return answer
        }
    }
}
