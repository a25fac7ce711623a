// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Synchronization

/// How many event streams may be open at a time.
final class StreamSlots: Sendable {
    private let limit: Int
    private let open = Mutex(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// nil when all are taken.
    func take() -> Slot? {
        let isFree = open.withLock { open in
            guard open < limit else { return false }
            open += 1
            return true
        }
        return isFree ? Slot(self) : nil
    }

    /// One open stream; given back by its end of life.
    final class Slot: Sendable {
        private let slots: StreamSlots

        fileprivate init(_ slots: StreamSlots) {
            self.slots = slots
        }

        deinit {
            slots.open.withLock { $0 -= 1 }
        }
    }
}
