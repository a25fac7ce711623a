// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import RelayStore
import UpgradeRules

extension SQLStore {
    package func answer(to receipt: WebhookReceipt) throws -> StoredAnswer? {
        try readOnce("looking for a webhook") { connection in try WebhookTable.answer(to: receipt, connection) }
    }

    @discardableResult
    package func forgetWebhooks(before time: Timestamp) throws -> Int {
        try write("forgetting old webhooks", lock: .rows) { connection in
            try connection.run("DELETE FROM webhook WHERE \(WebhookTable.isForgotten)", time)
        }
    }

    package func keep(
        _ answer: StoredAnswer, to receipt: WebhookReceipt, at now: Timestamp
    ) throws -> StoredAnswer {
        try write("storing a webhook", lock: .rows) { connection in
            // Stores first: of two that come at once, the second waits for the first, and finds its answer.
            if try WebhookTable.store(answer, for: receipt, at: now, connection) { return answer }
            return try WebhookTable.answer(to: receipt, connection) ?? answer
        }
    }
}

/// The table `webhook`: incoming webhooks that were answered.
package enum WebhookTable {
    /// The rows that may be deleted: received before a time (the parameter), and with an id that is not a digest.
    package static let isForgotten: SQL = "received_at < ? AND substr(id, 1, 7) <> 'sha256:'"

    package static func answer(to receipt: WebhookReceipt, _ connection: some SQLConnection) throws -> StoredAnswer? {
        let known = try connection.first(
            "SELECT status, body, digest FROM webhook WHERE hook = ? AND id = ?", receipt.hook, receipt.id
        ) { (StoredAnswer(status: Int($0.integer()), body: $0.blob()), $0.optionalInteger()) }
        guard let (answer, digest) = known else { return nil }
        guard digest.map({ $0 == Self.digest(of: receipt) }) ?? true else {
            throw StoreError(.webhookDiffers, context: "a webhook came with the id of an older one and another body")
        }
        return answer
    }

    /// - Returns: false where an answer is there already.
    @discardableResult
    package static func store(
        _ answer: StoredAnswer, for receipt: WebhookReceipt, at now: Timestamp, _ connection: some SQLConnection
    ) throws -> Bool {
        try StoreText.check(keys: receipt.hook, receipt.id)
        return try connection.run(
            """
            INSERT INTO webhook (hook, id, received_at, status, body, digest) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (hook, id) DO NOTHING
            """, receipt.hook, receipt.id, now, answer.status, answer.body, Self.digest(of: receipt)) > 0
    }

    /// Both bodies were signed with one of our secrets: this finds mistakes, not attacks.
    private static func digest(of receipt: WebhookReceipt) -> Int64 { Int64(bitPattern: FNV1a.hash(receipt.body)) }
}
