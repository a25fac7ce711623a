// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The sign by which one part of the daemon shows its progress.
///
/// The part calls `beat` after a step that always ends, such as a turn of its loop or a call that returned, and `rest` before
/// it waits for something to do. Written by that part alone, one thread at a time; read by any.
package final class Pulse: Sendable {
    package let part: String
    /// Twice the number of beats; odd while at rest.
    private let state = Atomic<UInt64>(1)

    package init(_ part: String) {
        self.part = part
    }

    /// The part has made progress, and has more to do.
    @inline(__always)
    package func beat() {
        state.store((state.load(ordering: .relaxed) | 1) &+ 1, ordering: .relaxed)
    }

    /// The part has nothing to do.
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
