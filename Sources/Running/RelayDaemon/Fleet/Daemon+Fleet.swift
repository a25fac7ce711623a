// SPDX-License-Identifier: Apache-2.0
import FanOut
import RelayAPI
import RelayStore
import Terminal
import VersionSources

/// The daemon as one of several relays on the same database.
extension Daemon {
    /// Registers this relay among the relays of the database.
    func join(_ store: any RelayStore, _ description: NodeDescription) throws -> NodeKeeper {
        let keeper = NodeKeeper(store: store, description: description, log: log)
        do {
            try keeper.joinAtStart()
        } catch let error as StoreError {
            throw CommandFailure(.failed, error.context, hint: error.hint)
        }
        return keeper
    }

    /// Acts on news from another relay, or from this one. May wait for the store.
    func hear(_ news: FleetHints, _ fanOut: FanOut, _ sources: SourceRunner, _ versionCache: VersionCache) {
        let decisions: Set = [
            "version", "requirement", "campaign", "campaign_run", "campaign_round", "alert", "leader",
        ]
        if news.concerns(decisions) {
            fanOut.poke()
            sources.poke()
        }
        if news.concerns(["source_evidence"]) { sources.noteKept() }
        for wish in news.wishes {
            switch wish {
            case .probe(let app): fanOut.probe(app)
            case .ask(let app): sources.askNow(app)
            }
        }
        if news.concerns(decisions) { versionCache.refresh() }
        if news.concerns(["provider_token"]) {
            tokenSources.refresh(at: clock())
            fanOut.noteCredentials()
        }
    }
}
