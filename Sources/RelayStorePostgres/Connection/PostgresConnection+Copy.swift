// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
import RelayEngine
import Threading

/// Rows on their way into a table by COPY, in its binary form (postgresql.org/docs, "COPY", "Binary Format").
struct CopyRows: Sendable {
    fileprivate var fields = BinaryFields()

    /// Begins a row of so many columns. Each must be added to what this lends.
    @inline(__always)
    mutating func row(columns: Int16, _ write: (inout BinaryFields) throws -> Void) rethrows {
        fields.raw(columns)
        try write(&fields)
    }
}

extension PostgresConnection {
    /// Writes rows by `COPY … FROM STDIN (FORMAT binary)`: as many as there are, a piece of 64 KiB at a time.
    ///
    /// - Parameters:
    ///   - command: the COPY.
    ///   - next: adds some rows, and says whether there are more. What it throws ends the COPY without a row.
    /// - Returns: how many rows were written.
    func copy(
        _ command: String, until deadline: MonotonicTime, _ next: (inout CopyRows) throws -> Bool
    ) throws -> Int {
        do {
            return try copyAll(command, until: deadline, next)
        } catch let failure as PostgresFailure where failure.isSessionOver {
            close(failure)
            throw failure
        }
    }

    private func copyAll(
        _ command: String, until deadline: MonotonicTime, _ next: (inout CopyRows) throws -> Bool
    ) throws -> Int {
        let isRisky = !isInTransaction
        try send(isRisky: false) { unsafe relay_PQsendQuery(handle, command) }
        _ = try answer(until: deadline, isRisky: false)
        var patience = Patience(deadline)
        var rows = CopyRows()
        // Signature, flags, and the length of an extension that there is none of.
        rows.fields.bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
        rows.fields.raw(Int64(0))
        do {
            while try next(&rows) {
                if rows.fields.bytes.count >= 65_536 { try put(&rows, &patience) }
            }
        } catch {
            // Where the connection is gone this finds it out once more, and the cause is what counts.
            var rest = Patience(MonotonicClock.now() + Self.grace)
            _ = try? end(refusal: "the relay gave up", &rest, isRisky: false)
            throw error
        }
        rows.fields.raw(Int16(-1))
        try put(&rows, &patience)
        return try end(refusal: nil, &patience, isRisky: isRisky).affected
    }

    private func put(_ rows: inout CopyRows, _ patience: inout Patience) throws(PostgresFailure) {
        // Nothing is waited for as long as the server takes all.
        guard MonotonicClock.now() < patience.deadline else {
            throw PostgresFailure(.refused("57014"), "the rows could not be written in time")
        }
        let bytes = rows.fields.bytes
        rows.fields.bytes.removeAll(keepingCapacity: true)
        while true {
            let taken = unsafe bytes.withUnsafeBytes { bytes -> Int32 in
                guard let base = bytes.baseAddress else { return 1 }
                return unsafe relay_PQputCopyData(
                    handle, base.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            switch taken {
            case 1: return try flush(&patience)
            case 0: try wait(POLLIN | POLLOUT, &patience)
            default: throw unsafe PostgresFailure(ofConnection: handle)
            }
        }
    }

    private func end(
        refusal: String?, _ patience: inout Patience, isRisky: Bool
    ) throws(PostgresFailure) -> PostgresRows {
        while true {
            switch unsafe relay_PQputCopyEnd(handle, refusal) {
            case 1: return try answer(until: patience.deadline, isRisky: isRisky)
            case 0: try wait(POLLIN | POLLOUT, &patience)
            default: throw unsafe PostgresFailure(ofConnection: handle)
            }
        }
    }
}
