// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How one part of the daemon shows that it gets on.
///
/// `beat` follows a step that always ends: a turn of its loop, a call that returned. `rest` comes before it waits for
/// something to do. Written by the part that it belongs to, one thread at a time; read by any.
package final class Pulse: Sendable {
    package let part: String
    /// Twice the number of beats; odd while at rest.
    private let state = Atomic<UInt64>(1)

    package init(_ part: String) {
        self.part = part
    }

    /// It got on, and has more to do.
    @inline(__always)
    package func beat() {
        state.store((state.load(ordering: .relaxed) | 1) &+ 1, ordering: .relaxed)
    }

    /// It has nothing to do.
    @inline(__always)
    package func rest() {
        state.store(state.load(ordering: .relaxed) | 1, ordering: .relaxed)
    }

    package var reading: PulseReading { PulseReading(state: state.load(ordering: .relaxed)) }
}

/// A pulse at one moment.
package struct PulseReading: Sendable, Hashable {
    /// Twice the number of beats; odd while at rest.
    let state: UInt64

    package var isAtRest: Bool { state & 1 == 1 }
}
