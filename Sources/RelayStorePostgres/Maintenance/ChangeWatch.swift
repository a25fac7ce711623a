// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// When the change mark has to be asked for, and when the one that is known still counts: nobody has told of a change, this relay has made
/// none, and it is young. Pure.
struct ChangeWatch: Sendable {
    /// How old a mark may be. Whoever changes something tells it (the schema's `tell`), so that only a server that has gone silent, or a
    /// pooler that swallows what is told, is noticed as late as that.
    let longest: Duration

    private var known: (mark: Int64, since: MonotonicTime)?
    /// Counts what may have changed the mark.
    private(set) var doubts = 0

    init(longest: Duration) { self.longest = longest }

    /// The mark that still counts; nil: ask.
    func mark(at now: MonotonicTime) -> Int64? {
        guard let known, now - known.since < longest else { return nil }
        return known.mark
    }

    /// Something may have changed it.
    mutating func doubt() {
        doubts += 1
        known = nil
    }

    /// - Parameters:
    ///   - doubts: as it was before the store was asked: an answer that somebody has overtaken is not kept.
    ///   - now: when it was asked.
    mutating func found(_ mark: Int64, doubts: Int, at now: MonotonicTime) {
        if doubts == self.doubts { known = (mark, now) }
    }
}
