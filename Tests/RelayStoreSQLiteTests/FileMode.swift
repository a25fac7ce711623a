// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The umask is the whole process's, so only one test at a time changes it: otherwise one would put back another's value.
private let umaskIsTaken = NSLock()

/// Runs `body` while nothing is taken from the modes of new files.
func withoutUmask<Result>(_ body: () throws -> Result) rethrows -> Result {
    umaskIsTaken.lock()
    let old = umask(0)
    defer {
        umask(old)
        umaskIsTaken.unlock()
    }
    return try body()
}
