// SPDX-License-Identifier: Apache-2.0

/// What an app's store offers, as it is: the relay knows it only as far as it has asked.
struct StoreTruth {
    enum Verdict { case open, closed, halted }

    struct Release {
        var version: Int
        /// Of the users; 100: everybody.
        var percent: Int
        var isHalted = false
        /// Offered in some countries alone; where the phones are nobody knows.
        var isForSomeCountries = false
        /// By the right time, in milliseconds.
        var shownAt: Int64
    }

    /// In the order in which they came.
    private(set) var releases: [Release] = []
    /// Whether who asks is answered.
    var answers = true

    /// Without the others.
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
        // What everybody has cannot be taken back from anybody, but Google shows it as halted all the same.
        releases[index].isHalted = isHalted
    }

    /// What a gate has to make of it (PROTOCOLS 4.2): what everybody is offered is open, a rollout that goes on is not yet, nor is one in
    /// some countries, one that is halted is none any more.
    ///
    /// - Parameter minimum: percent of the users that are enough.
    func verdict(on version: Int, minimum: Int) -> Verdict {
        let meeting = releases.filter { $0.version >= version }
        if meeting.contains(where: { !$0.isHalted && !$0.isForSomeCountries && $0.percent >= minimum }) { return .open }
        if meeting.contains(where: { !$0.isHalted }) { return .closed }
        return meeting.isEmpty ? .closed : .halted
    }
}
