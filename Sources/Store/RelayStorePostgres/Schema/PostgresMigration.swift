// SPDX-License-Identifier: Apache-2.0
import CTexts

/// One step of the store's growth from release to release, under the number that it has in SQLite: from step 22 on,
/// each step has one text per driver. A step's additions do not disturb the release before it, so that both releases
/// may work at the same time.
struct PostgresMigration: Sendable {
    var name: String
    var toVersion: Int
    var sql: String

    /// Every step so far, each a text of its own that no one edits after its release.
    static let chain: [PostgresMigration] = {
        // The first step makes everything that SQLite's steps up to its number make.
        let names = [
            "the first schema", "moments and systems in the history", "what the app stores said",
            "dead tokens in their order, events of apps", "versions seen lately",
            "who wants a campaign at any hour",
            "messages in several languages",
            "countries of devices",
            "who did what, sessions of browsers",
            "several relays",
            "what strangers may do",
            "which store it is and how far",
            "which of a wave's pushes are tried again",
            "events of campaigns, by the relay",
            "channels of devices",
            "answers by channel",
            "channels as a range",
            "one index of channels",
        ]
        let bytes = unsafe UnsafeRawBufferPointer(start: relay_postgres_steps(), count: relay_postgres_steps_size())
        let texts = unsafe Array(bytes).split(separator: 0)
        precondition(names.count == texts.count, "each step of the schema has a name and a text")
        return zip(names, texts).enumerated().map { place, step in
            PostgresMigration(
                name: step.0, toVersion: 21 + place, sql: String(decoding: step.1, as: UTF8.self))
        }
    }()
}
