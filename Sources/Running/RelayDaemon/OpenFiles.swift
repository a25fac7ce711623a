// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// How many descriptors the process may have open.
enum OpenFiles {
    /// Descriptors that the API's connections must leave free: for the store, push connections, sources and logs.
    static let reserve = 512

    /// Raises the soft limit to the hard one. "The soft limit is the value that the kernel enforces for the corresponding
    /// resource. The hard limit acts as a ceiling for the soft limit: an unprivileged process may set only its soft limit
    /// to a value in the range from 0 up to the hard limit" (getrlimit(2)). The soft limit is low by default for the
    /// sake of select(2), which cannot take descriptors of 1024 and above; nothing here calls it.
    ///
    /// - Returns: the limit in force.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = raised.rlim_max
            if unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
