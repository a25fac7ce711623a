// SPDX-License-Identifier: Apache-2.0
import CTexts

/// One step of the store's growth from release to release, under the number that it has in SQLite: from step 22 on a step is two
/// texts. What a step adds, the release before it does not mind, so that both may work at a time.
struct PostgresMigration: Sendable {
    var name: String
    var toVersion: Int
    var sql: String

    /// Every step there ever was: texts of their own, which nobody edits once they were released.
    static let chain: [PostgresMigration] = {
        // The first has all that SQLite's steps up to it have made.
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
        ]
        let bytes = unsafe UnsafeRawBufferPointer(start: relay_postgres_steps(), count: relay_postgres_steps_size())
        let texts = unsafe Array(bytes).split(separator: 0)
        return zip(names, texts).enumerated().map { place, step in
            PostgresMigration(
                name: step.0, toVersion: 21 + place, sql: String(decoding: step.1, as: UTF8.self))
        }
    }()
}
