// SPDX-License-Identifier: Apache-2.0
import RelayEngine

/// What a world has seen of channels, receivers and single requirements.
struct Watched {
    /// By app: what was asked for when the channels were held against it last.
    var ruled: [Int: World.Ruled] = [:]
    /// By app: after which change of the store its launch document was.
    var documented: [Int: Int] = [:]
    /// What people have said of single requirements, by the relay's number.
    var spoken: [Int64: SpokenWord] = [:]
    /// By requirement: since when its store says that its rollout is halted, in milliseconds.
    var haltedRows: [Int64: Int64] = [:]
    /// Campaigns whose next wave a person has let begin: when, and how many had begun.
    var releasedWaves: [String: (at: MonotonicTime, begun: Int)] = [:]
    /// What receivers were notified of, in the order in which they heard of it first, and where each is, by its id.
    var heard: [HeardEvent] = []
    var heardPlaces: [String: Int] = [:]
    /// How many lives the relay has had, and when this one began, in milliseconds.
    var life = (number: 0, since: Int64(0))
}
