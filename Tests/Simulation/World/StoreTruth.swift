// SPDX-License-Identifier: Apache-2.0

/// The true state of an app's store: the relay knows it only as far as it has asked.
struct StoreTruth {
    enum Verdict { case open, closed, halted }

    struct Release {
        var version: Int
        /// The percentage of users that it is offered to.
        var percent: Int
        var isHalted = false
        /// Whether it is offered in some countries only; where the phones are is unknown.
        var isForSomeCountries = false
        /// By the right time, in milliseconds.
        var shownAt: Int64
    }

    /// In the order in which they came.
    private(set) var releases: [Release] = []
    /// Whether the store answers at all.
    var answers = true

    /// The same store with only these versions.
    func only(_ versions: Set<Int>) -> StoreTruth {
        var truth = self
        truth.releases.removeAll { !versions.contains($0.version) }
        return truth
    }

    mutating func publish(_ version: Int, percent: Int, inSomeCountries: Bool = false, at time: Int64) {
        let index = releases.firstIndex { $0.version == version } ?? releases.endIndex
        if index == releases.endIndex {
            releases.append(Release(version: version, percent: percent, shownAt: time))
        }
        (releases[index].percent, releases[index].isHalted) = (percent, false)
        releases[index].isForSomeCountries = inSomeCountries
    }

    mutating func halt(_ version: Int, _ isHalted: Bool) {
        guard let index = releases.firstIndex(where: { $0.version == version }) else { return }
        // A release that every user has cannot be taken back, but Google shows it as halted all the same.
        releases[index].isHalted = isHalted
    }

    /// The verdict that a gate must reach (PROTOCOLS 4.2): an offer to enough users is open; a smaller rollout, or one in some countries,
    /// is not open yet; a halted one does not count.
    ///
    /// - Parameter minimum: the percentage of users that is enough.
    func verdict(on version: Int, minimum: Int) -> Verdict {
        let meeting = releases.filter { $0.version >= version }
        if meeting.contains(where: { !$0.isHalted && !$0.isForSomeCountries && $0.percent >= minimum }) { return .open }
        if meeting.contains(where: { !$0.isHalted }) { return .closed }
        return meeting.isEmpty ? .closed : .halted
    }
}
