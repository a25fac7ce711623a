// SPDX-License-Identifier: Apache-2.0
import Glibc
package import RelayStore
import Synchronization

extension SQLiteStore {
    package func figures() -> StoreFigures {
        var figures = tally.withLock { $0 }
        figures.databaseBytes = Self.fileSize(path)
        // A missing log holds nothing.
        figures.logBytes = Self.fileSize(path + "-wal") ?? 0
        var system = statvfs()
        if unsafe statvfs(path, &system) == 0 {
            figures.freeBytes = Int64(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize))
        }
        return figures
    }
}
