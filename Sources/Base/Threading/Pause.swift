// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelayEngine

/// Lets a thread sleep; only for threads that may wait.
package enum Pause {
    package static func rest(_ time: Duration) {
        guard time > .zero else { return }
        var span = timespec()
        span.tv_sec = Int(time.components.seconds)
        span.tv_nsec = Int(time.components.attoseconds / 1_000_000_000)
        unsafe nanosleep(&span, nil)
    }
}
