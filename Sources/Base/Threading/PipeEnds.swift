// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The two ends of a pipe (pipe(2)): bytes that are written at one are read at the other. The caller closes both; programs
/// that are started do not inherit them.
package struct PipeEnds: Sendable {
    package let reading: Int32
    package let writing: Int32

    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SystemError("pipe", errno: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }
}
