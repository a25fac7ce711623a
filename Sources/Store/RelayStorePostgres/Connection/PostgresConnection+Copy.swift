// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
import RelayEngine
import Threading

/// Writes rows into a table by COPY, in its binary form (postgresql.org/docs, "COPY", "Binary Format"), in pieces of 64 KiB.
/// Valid only in the closure that it is lent to.
final class CopyWriter {
    private static let piece = 65_536

    private let connection: PostgresConnection
    fileprivate var patience: PostgresConnection.Patience
    fileprivate var fields = BinaryFields()

    fileprivate init(_ connection: PostgresConnection, _ patience: PostgresConnection.Patience) {
        self.connection = connection
        self.patience = patience
        // Signature, flags, and the length of the header's extension, which is empty.
        fields.bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0]
        fields.raw(Int64(0))
    }

    /// Writes a row of `columns` columns, each of which `write` must add.
    @inline(__always)
    func row(columns: Int16, _ write: (inout BinaryFields) throws -> Void) throws {
        fields.raw(columns)
        try write(&fields)
        if fields.bytes.count >= Self.piece { try send() }
    }

    fileprivate func send() throws(PostgresFailure) {
        try connection.put(fields.bytes, &patience)
        fields.bytes.removeAll(keepingCapacity: true)
    }
}

extension PostgresConnection {
    /// Writes any number of rows by `COPY … FROM STDIN (FORMAT binary)`.
    ///
    /// - Parameters:
    ///   - command: the COPY.
    ///   - write: writes the rows. If it throws, the COPY writes nothing.
    /// - Returns: the number of rows written.
    func copy(_ command: String, until deadline: MonotonicTime, _ write: (CopyWriter) throws -> Void) throws -> Int {
        do {
            return try copyAll(command, until: deadline, write)
        } catch let failure as PostgresFailure where failure.isSessionOver {
            close(failure)
            throw failure
        }
    }

    private func copyAll(
        _ command: String, until deadline: MonotonicTime, _ write: (CopyWriter) throws -> Void
    ) throws -> Int {
        let isRisky = !isInTransaction
        try send(isRisky: false) { unsafe relay_PQsendQuery(handle, command) }
        _ = try answer(until: deadline, isRisky: false)
        let writer = CopyWriter(self, Patience(deadline))
        do {
            try write(writer)
        } catch {
            // Where the connection is gone, this fails as well; the first error is thrown.
            var rest = Patience(MonotonicClock.now() + Self.grace)
            _ = try? end(refusal: "the relay gave up", &rest, isRisky: false)
            throw error
        }
        writer.fields.raw(Int16(-1))
        try writer.send()
        return try end(refusal: nil, &writer.patience, isRisky: isRisky).affected
    }

    fileprivate func put(_ bytes: [UInt8], _ patience: inout Patience) throws(PostgresFailure) {
        // Checked here: as long as the server takes everything, `flush` does not wait, and so checks no deadline.
        guard MonotonicClock.now() < patience.deadline else {
            throw PostgresFailure(.refused("57014"), "the rows could not be written in time")
        }
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
