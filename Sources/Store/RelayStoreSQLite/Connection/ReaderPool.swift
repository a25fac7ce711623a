// SPDX-License-Identifier: Apache-2.0
import Dispatch
import StoreSQL
import Synchronization
import Telemetry

/// A few connections for reading, each used by one thread at a time.
///
/// A caller takes a free one, or waits until one becomes free. Requests (`RequestMark`) leave one connection to the
/// relay's own threads, so that the fan-out can read however many long lists are requested.
final class ReaderPool: Sendable {
    private final class Reader: Sendable {
        let connection: Mutex<SQLiteConnection?>

        init(_ connection: SQLiteConnection) {
            self.connection = Mutex(connection)
        }
    }

    private let readers: [Reader]
    /// The indices of the free connections; `count` is their number.
    private let free: Mutex<[Int]>
    private let count: DispatchSemaphore
    /// How many more requests may read.
    private let requests: DispatchSemaphore

    init(_ connections: [SQLiteConnection]) {
        readers = connections.map(Reader.init)
        free = Mutex(Array(connections.indices))
        // Made empty and then filled: freeing a semaphore whose count is below its initial value crashes
        // (dispatch_semaphore_create(3)).
        count = DispatchSemaphore(value: 0)
        requests = DispatchSemaphore(value: 0)
        for _ in connections { count.signal() }
        for _ in 0..<max(1, connections.count - 1) { requests.signal() }
    }

    /// Lends a connection; nil after `close()`.
    func withConnection<R: Sendable>(_ body: (SQLiteConnection?) throws -> R) throws -> R {
        let isRequest = RequestMark.current != nil
        if isRequest { requests.wait() }
        defer { if isRequest { requests.signal() } }
        count.wait()
        let place = free.withLock { $0.removeLast() }
        defer {
            free.withLock { $0.append(place) }
            count.signal()
        }
        return try readers[place].connection.withLock { connection in try body(connection) }
    }

    /// Runs `body` on each connection in turn; waits until each is free.
    func all<R: Sendable>(_ body: (SQLiteConnection?) throws -> R) rethrows -> [R] {
        try readers.map { reader in try reader.connection.withLock { connection in try body(connection) } }
    }

    /// Waits for each reader to end and closes it.
    func close() {
        for reader in readers { reader.connection.withLock { $0 = nil } }
    }
}
