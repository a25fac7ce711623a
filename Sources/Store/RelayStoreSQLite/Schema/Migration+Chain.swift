// SPDX-License-Identifier: Apache-2.0
import CTexts
import StoreSQL

extension Migration {
    /// Every step so far. Existing stores have run them, so each is a text of its own (`Sources/C/CTexts/schema`): it
    /// does not follow changes of today's statements, and is never edited once released. The comments inside stay in
    /// the database.
    static let chain: [Migration] = {
        let names = [
            "the first schema",
            "version codes, alerts, versions seen",
            "pruned campaigns, the outbox of notifications",
            "a compact ledger",
            "campaigns in waves",
            "pauses of provider tokens",
            "shards and retries by push environment",
            "apps of API tokens, digests of webhooks",
            "what is in force, beside what is required",
            "who obeyed, over time",
            "campaigns that are sent again",
            "texts of the latest version",
            "versions that were withdrawn",
            "campaigns that begin with a canary",
            "why campaigns stood still",
            "one record of what is required",
            "what devices say at login",
            "dead tokens that a person accepted",
            "which server wants a pause of a key",
            "what was said against tokens",
            "a run for each campaign",
            "moments and systems in the history",
            "what the app stores said",
            "dead tokens in their order, events of apps",
            "versions seen lately",
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
        let bytes = unsafe UnsafeRawBufferPointer(start: relay_schema_steps(), count: relay_schema_steps_size())
        let texts = unsafe Array(bytes).split(separator: 0)
        precondition(names.count == texts.count, "each step of the schema has a name and a text")
        return zip(names, texts).enumerated().map { place, step in
            Migration(name: step.0, toVersion: place + 1, sql: SQL(typed: String(decoding: step.1, as: UTF8.self)))
        }
    }()
}
