// SPDX-License-Identifier: Apache-2.0
import CPostgres
import RelayEngine
import StoreSQL

/// A statement that the server has prepared and described.
struct DescribedStatement {
    var name: String
    /// Its parameters' types, as pg_type numbers them.
    var types: [UInt32]
}

extension PostgresConnection {
    /// Runs a statement that all drivers share. It is prepared at its first use, when the server is asked for the types
    /// of its parameters: a NULL has no type, and an integer is as wide as its column.
    ///
    /// - Parameter isReadOnly: whether it changes nothing.
    func run(
        _ sql: SQL, values: [(any SQLValue)?], isReadOnly: Bool, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> PostgresRows {
        do throws(PostgresFailure) {
            return try runDescribed(sql, values, isReadOnly, until: deadline)
        } catch {
            guard error.state?.reaction == .prepareAnew else { throw error }
            described[sql] = nil
            guard !isInTransaction else { throw error }
            return try runDescribed(sql, values, isReadOnly, until: deadline)
        }
    }

    private func runDescribed(
        _ sql: SQL, _ values: [(any SQLValue)?], _ isReadOnly: Bool, until deadline: MonotonicTime
    ) throws(PostgresFailure) -> PostgresRows {
        let statement = if let known = described[sql] { known } else { try describe(sql, until: deadline) }
        precondition(
            values.count == statement.types.count,
            "values for \(statement.types.count) parameters: \(sql)")
        parameters.removeAll()
        for (value, type) in zip(values, statement.types) { try parameters.add(value?.parameter, as: type) }
        try send(isRisky: !isReadOnly && !isInTransaction) {
            unsafe parameters.withValues { values, lengths, formats in
                unsafe relay_PQsendQueryPrepared(
                    handle, statement.name, Int32(parameters.count), values, lengths, formats, 1)
            }
        }
        return try answer(until: deadline, isRisky: !isReadOnly && !isInTransaction)
    }

    private func describe(_ sql: SQL, until deadline: MonotonicTime) throws(PostgresFailure) -> DescribedStatement {
        preparations += 1
        let name = "relay_\(preparations)"
        let text = NumberedParameters.numbered(sql.text)
        // Without types: "the server infers a data type for the parameter symbol" (PQprepare's page).
        try send(isRisky: false) { unsafe relay_PQsendPrepare(handle, name, text, 0, nil) }
        _ = try answer(until: deadline, isRisky: false)
        try send(isRisky: false) { unsafe relay_PQsendDescribePrepared(handle, name) }
        let statement = DescribedStatement(
            name: name, types: try answer(until: deadline, isRisky: false).parameterTypes)
        described[sql] = statement
        return statement
    }
}
