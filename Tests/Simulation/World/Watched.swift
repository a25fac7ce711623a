// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// A world's observations of channels, receivers and single requirements.
struct Watched {
    /// By app: what was required when the channels were last compared with it.
    var ruled: [Int: World.Ruled] = [:]
    /// By app: the store's change at the last look at its launch document.
    var documented: [Int: Int] = [:]
    /// By app: the moments that were given as "in force since".
    var forces: [Int: ForceMoments] = [:]
    /// By the relay's requirement number: what people have decided about it.
    var spoken: [Int64: SpokenWord] = [:]
    /// By requirement: since when its store has shown its rollout as halted, in milliseconds.
    var haltedRows: [Int64: Int64] = [:]
    /// By campaign whose next wave a person has released: when, and how many waves had begun.
    var releasedWaves: [String: (at: MonotonicTime, begun: Int)] = [:]
    /// The events that receivers were notified of, in the order in which they were first received, and the place of each by its id.
    var heard: [HeardEvent] = []
    var heardPlaces: [String: Int] = [:]
    /// How many lives the relay has had, and when this one began, in milliseconds.
    var life = (number: 0, since: Int64(0))
}
