// SPDX-License-Identifier: Apache-2.0
import RelayStore

@testable import RelayStoreSQLite

/// Tries again, as an operator does, if the store was refused for another's lock after SQLite's whole waiting time. On a slow
/// machine one of many callers waits for longer than that, because SQLite has no queue; a refusal before that time is a fault.
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
