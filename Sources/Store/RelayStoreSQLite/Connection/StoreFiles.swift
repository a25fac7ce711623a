// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayStore

/// The identities of the database's file and its write-ahead log, by which a change is noticed when other files get
/// their names: anything written to a file that was moved, replaced or removed is lost at the next start.
struct StoreFiles: Sendable, Equatable {
    private struct File: Equatable {
        var device, inode: UInt64
    }

    private var database, log: File?

    /// The files that have the names now.
    init(at path: String) { (database, log) = (Self.file(path), Self.file(path + "-wal")) }

    private static func file(_ path: String) -> File? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return File(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The fault if one of the files was moved, removed or replaced; nil if both are still there.
    func fault(at path: String) -> StoreError? {
        let now = StoreFiles(at: path)
        guard now != self else { return nil }
        let (name, isGone) = now.database == database ? ("\(path)-wal", now.log == nil) : (path, now.database == nil)
        return StoreError(
            .moved,
            context:
                "\(name) was \(isGone ? "moved or removed" : "replaced by another file") while the relay works on it",
            hint:
                "Nothing is recorded or sent. Put the file back as it was; or stop the relay and restore a backup with "
                + "\"upgrade-relay store restore\"")
    }
}
