// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A few connections for reading, each used by one thread at a time.
///
/// A caller takes the first that is free; when none is, it waits for the one whose turn it is.
final class ReaderPool: Sendable {
    private final class Reader: Sendable {
        let connection: Mutex<SQLiteConnection?>

        init(_ connection: SQLiteConnection) {
            self.connection = Mutex(connection)
        }
    }

    private let readers: [Reader]
    private let turn = Atomic<Int>(0)

    init(_ connections: [SQLiteConnection]) {
        readers = connections.map(Reader.init)
    }

    /// Lends a connection; nil after `close()`.
    func withConnection<R: Sendable>(_ body: (SQLiteConnection?) throws -> R) throws -> R {
        for reader in readers {
            let result = try reader.connection.withLockIfAvailable { connection in try body(connection) }
            if let result { return result }
        }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        let reader = readers[Int(UInt(bitPattern: turn) % UInt(readers.count))]
        return try reader.connection.withLock { connection in try body(connection) }
    }

    /// Asks each connection in turn; waits for who uses it.
    func all<R: Sendable>(_ body: (SQLiteConnection?) throws -> R) rethrows -> [R] {
        try readers.map { reader in try reader.connection.withLock { connection in try body(connection) } }
    }

    /// Waits for each reader to end and closes it.
    func close() {
        for reader in readers { reader.connection.withLock { $0 = nil } }
    }
}
