// SPDX-License-Identifier: Apache-2.0
import RelayStore

@testable import RelayStoreSQLite

/// Tries again where the store was refused for others' lock after as long as SQLite may wait for it, as an operator does. Who is among many
/// waits his turn for longer than that on a slow machine, for SQLite has no line; a refusal before that time is a fault.
func insisting<Result>(_ body: () throws -> Result) throws -> Result {
    while true {
        let began = ContinuousClock.now
        do {
            return try body()
        } catch let error
            where isBusy(error) && ContinuousClock.now - began >= .milliseconds(SQLiteConnection.busyTimeout)
        {
            continue
        }
    }
}

private func isBusy(_ error: any Error) -> Bool {
    (error as? StoreError)?.code == .busy || (error as? SQLiteFailure)?.isBusy == true
}
