// SPDX-License-Identifier: Apache-2.0

/// An answer that waits for its time.
package struct DelayedAnswer {
    package var stream: Int32
    /// Where the strict session has it.
    var slot = 0
    /// It waits longer than the others.
    var isLate = false

    package init(stream: Int32, slot: Int = 0, isLate: Bool = false) {
        self.stream = stream
        self.slot = slot
        self.isLate = isLate
    }
}

/// Answers of all connections, in the order of their time.
struct DelayedAnswers {
    struct Entry {
        /// Nanoseconds of the monotonic clock; never before the one that was appended last.
        var due: UInt64
        var connection: UInt64
        var answer: DelayedAnswer
    }

    private var entries: [Entry] = []
    /// So many of them are over.
    private var done = 0

    /// When the first is due; `.max` where none waits.
    var next: UInt64 { done < entries.count ? entries[done].due : .max }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
    }

    mutating func take(dueBy now: UInt64) -> Entry? {
        guard next <= now else { return nil }
        let entry = entries[done]
        done += 1
        if done > 4096 || done == entries.count {
            entries.removeFirst(done)
            done = 0
        }
        return entry
    }
}
