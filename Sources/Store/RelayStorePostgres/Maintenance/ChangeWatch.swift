// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// When the store must be asked for its change mark, and when the known mark still counts: no change was notified, this
/// relay has made none, and the mark is young. Pure.
struct ChangeWatch: Sendable {
    /// The longest age of a mark. Every change is notified (the schema's `tell`), so that only a server that has gone
    /// silent, or a pooler that swallows notifications, is noticed as late as this.
    let longest: Duration

    private var known: (mark: Int64, since: MonotonicTime)?
    /// Counts the events that may have changed the mark.
    private(set) var doubts = 0

    init(longest: Duration) { self.longest = longest }

    /// The mark that still counts; nil: ask.
    func mark(at now: MonotonicTime) -> Int64? {
        guard let known, now - known.since < longest else { return nil }
        return known.mark
    }

    /// Forgets the mark, which may have changed.
    mutating func doubt() {
        doubts += 1
        known = nil
    }

    /// - Parameters:
    ///   - doubts: their number before the store was asked: an answer that a change has overtaken is not kept.
    ///   - now: the time at which the store was asked.
    mutating func found(_ mark: Int64, doubts: Int, at now: MonotonicTime) {
        if doubts == self.doubts { known = (mark, now) }
    }
}
