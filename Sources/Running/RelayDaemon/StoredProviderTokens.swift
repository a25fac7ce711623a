// SPDX-License-Identifier: Apache-2.0
import PushProviders
import RelayEngine
import RelayStore
import Telemetry

/// The provider token of one key in the store, shared by every relay that uses the key.
struct StoredProviderTokens: ProviderTokenKeeper {
    let store: any RelayStore
    let team: String
    let keyID: String
    let log: Log

    private func row(_ place: ProviderTokenPlace) -> String {
        let key = "APNs/\(team)/\(keyID)"
        return switch place {
        case .key: key
        case .file(let fingerprint): "\(key)/\(fingerprint)"
        }
    }

    func token(_ place: ProviderTokenPlace) throws -> ProviderToken? {
        try noting { try store.providerToken(key: row(place)) }
    }

    func mint(
        _ token: ProviderToken, _ place: ProviderTokenPlace, replacing known: Timestamp?, at now: Timestamp
    ) throws -> ProviderToken {
        try noting { try store.mintProviderToken(token, key: row(place), replacing: known, at: now) }
    }

    func pause(until end: Timestamp, by server: String?, at now: Timestamp) throws -> Bool {
        try noting { try store.pauseProviderToken(key: row(.key), until: end, by: server, at: now) }
    }

    private func noting<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            // Apple limits how often a key's token is renewed: several restarts, or several relays, could exceed that.
            log(
                .warning,
                "the provider token or its pause is not kept: a restart or another relay may sign another too early",
                [("key", keyID), ("error", "\(error)")])
            throw error
        }
    }
}
