// SPDX-License-Identifier: Apache-2.0
import StoreSQL

/// One step of the store's growth from release to release, under the number that it has in SQLite: from step 22 on,
/// each step has one text per driver. A step's additions do not disturb the release before it, so that both releases
/// may work at the same time.
struct PostgresMigration: Sendable {
    var name: String
    var toVersion: Int
    var sql: String

    static let chain = SchemaStep.postgres.map {
        PostgresMigration(name: $0.name, toVersion: $0.number, sql: $0.text)
    }
}
