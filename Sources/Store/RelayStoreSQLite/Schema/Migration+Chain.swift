// SPDX-License-Identifier: Apache-2.0
import StoreSQL

extension Migration {
    static let chain = SchemaStep.sqlite.map {
        Migration(name: $0.name, toVersion: $0.number, sql: SQL(typed: $0.text))
    }
}
