// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import RelayStore
import RelayStoreSQLite
import Terminal
import WireFormat

extension CommandEntry {
    static let storeRestore = client("store restore") { run in
        let file = try run.arguments.require("FILE")
        let store = StoreLock.resolved(try run.connection.configurationFile(run.context).load().store.sqlitePath)
        do {
            let kept = try StoreRestore(of: file, to: store, run).put()
            let size = try FileManager.default.attributesOfItem(atPath: store)[.size] as? Int64 ?? 0
            run.show(
                [
                    "store": .string(store), "size": .integer(size), "kept": kept.map { .string($0) } ?? .null,
                ],
                "\(DisplayWidth.sanitised(store)): \(Quantity.bytes(size)), from \(DisplayWidth.sanitised(file))\n"
                    + (kept.map { "the store as it was: \(DisplayWidth.sanitised($0))\n" } ?? ""))
            return .done
        } catch let error as StoreError {
            throw CommandFailure(.failed, error.context, hint: error.hint)
        }
    }
}

/// One backup on its way into the store's place.
private struct StoreRestore {
    private let file: String
    private let store: String
    private let context: ClientRun

    init(of file: String, to store: String, _ run: ClientRun) {
        (self.file, self.store, context) = (file, store, run)
    }

    /// - Returns: where the store as it was is now; nil where there was none.
    func put() throws -> String? {
        let isThere =
            (try? FileManager.default.attributesOfItem(atPath: store)[.size] as? Int64).map { $0 > 0 } ?? false
        // Held until the end: no daemon begins meanwhile.
        let lock = try Self.lock(store)
        defer { withExtendedLifetime(lock) {} }
        try check()
        let partial = "\(store).restore-\(getpid())"
        do {
            _ = try context.copy(store: file, to: partial)
            if isThere { try adopt(partial) }
            let kept = isThere ? try keep() : nil
            try BackupFile.publish(partial, as: store, replaces: true)
            // The log of the store that was: from here on it belongs to nothing that has the name. Where the process ends before this,
            // the daemon refuses the pair.
            for suffix in ["-wal", "-shm"] { _ = unsafe unlink(store + suffix) }
            return kept
        } catch {
            _ = unsafe unlink(partial)
            throw error
        }
    }

    private static func lock(_ store: String) throws -> StoreLock {
        do {
            return try StoreLock(store: store, isReplaced: true)
        } catch {
            guard error.code == .busy else { throw error }
            throw CommandFailure(
                .failed, error.context,
                hint: "stop it first: systemctl stop upgrade-relay.socket upgrade-relay-control.socket upgrade-relay")
        }
    }

    private func check() throws {
        let faults = try SQLiteStore.check(file: file) { _ in true }
        guard let first = faults.first else { return }
        throw CommandFailure(
            .failed, "\(file) is damaged: \(first.check): \(first.detail)",
            hint: "nothing was changed; \"upgrade-relay store check \(file)\" lists every fault")
    }

    /// The owner and the mode of the store go over to the copy: whoever restores may be root, and the daemon is not.
    private func adopt(_ partial: String) throws {
        var status = stat()
        guard unsafe stat(store, &status) == 0, unsafe chown(partial, status.st_uid, status.st_gid) == 0,
            unsafe chmod(partial, status.st_mode & 0o7777) == 0
        else { throw PrivateFile.failure(partial) }
    }

    /// Gives the store and its log a second name each.
    private func keep() throws -> String {
        let time = Date().formatted(.iso8601).filter { !":-".contains($0) }
        var (kept, number) = ("\(store).before-\(time)", 1)
        while unsafe link(store, kept) != 0 {
            guard errno == EEXIST else { throw PrivateFile.failure(kept) }
            number += 1
            kept = "\(store).before-\(time)-\(number)"
        }
        // Without a log it was closed well.
        if unsafe link(store + "-wal", kept + "-wal") != 0, errno != ENOENT { throw PrivateFile.failure(kept + "-wal") }
        return kept
    }
}
