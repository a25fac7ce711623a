// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// journald, as a log with fields.
package enum Journal {
    /// Whether standard error goes to the journal: "the two decimal numbers" of `JOURNAL_STREAM` are the device and the
    /// inode of the stream, to compare with fstat(2), because the descriptor may have been redirected since
    /// (systemd.exec(5)).
    ///
    /// - Parameter descriptor: another descriptor, for tests.
    package static func isStandardError(
        environment: [String: String], descriptor: Int32 = STDERR_FILENO
    ) -> Bool {
        guard let parts = environment["JOURNAL_STREAM"]?.split(separator: ":"), parts.count == 2,
            let device = UInt64(parts[0]), let inode = UInt64(parts[1])
        else { return false }
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }

    /// Returns whether journald took the entry. May be called on any thread.
    package static func write(_ entry: JournalEntry) -> Bool {
        // One arena, so that no pointer outlives its string.
        var arena: [UInt8] = []
        let ranges = entry.assignments.map { text in
            let start = arena.count
            arena.append(contentsOf: text.utf8)
            return start..<arena.count
        }
        return unsafe arena.withUnsafeMutableBytes { bytes in
            let vectors = unsafe ranges.map { range in
                unsafe iovec(iov_base: bytes.baseAddress.map { unsafe $0 + range.lowerBound }, iov_len: range.count)
            }
            return unsafe sd_journal_sendv(vectors, Int32(vectors.count)) == 0
        }
    }
}
