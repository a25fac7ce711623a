// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore

/// All that the owner decides, with defaults filled in and every fault ruled out.
struct RelayConfiguration: Sendable, Equatable {
    static let defaultPath = "/etc/upgrade-relay/config.json5"
    static let pathVariable = "UPGRADE_RELAY_CONFIG"

    var store = StoreConfiguration()
    var listen = ListenConfiguration()
    var webhooks = WebhooksConfiguration()
    var notify: [NotifyConfiguration] = []
    var fanOut = FanOutConfiguration()
    /// One entry for each app and platform, ordered by app, then platform.
    var apps: [AppConfiguration] = []

    func app(_ key: AppKey) -> AppConfiguration? {
        apps.first { $0.key == key }
    }
}

struct StoreConfiguration: Sendable, Equatable {
    /// The SQLite file. Default /var/lib/upgrade-relay/relay.db.
    var sqlitePath = "/var/lib/upgrade-relay/relay.db"
    /// How long the deliveries of campaigns that ended, and what else nobody needs any more, are kept. nil: for ever. Default
    /// nil.
    var keep: Duration?
}

struct ListenConfiguration: Sendable, Equatable {
    /// Where the HTTP API listens. Default 127.0.0.1:8480.
    var address = ListenAddress(host: "127.0.0.1", port: 8480)
    /// The operator's socket. Default /run/upgrade-relay/control.sock.
    var controlSocket = ListenConfiguration.defaultControlSocket

    static let defaultControlSocket = "/run/upgrade-relay/control.sock"
}

struct WebhooksConfiguration: Sendable, Equatable {
    /// Any of them may verify a signature; with none, every webhook is refused. Default none.
    var secrets: [SecretSource] = []
}

/// Who is told when a campaign's state changes.
struct NotifyConfiguration: Sendable, Equatable {
    var url: String
    var secret: SecretSource
    /// Which states it wants to hear of. Default all.
    var states = Set(CampaignState.allCases)
    /// A PEM file of certificates to trust instead of the system's. Default nil.
    var trustedCertificates: String?
}

/// How a campaign's audience is cut and spread.
struct FanOutConfiguration: Sendable, Equatable {
    /// Threads that each drive their own connections. Default 1: enough for hundreds of thousands of pushes a second.
    var lanes = 1
    /// Devices that are read, sent and recorded together. What kill -9 may make the relay send twice is bounded by the
    /// batches in flight. Default 500.
    var batch = 500
    /// Devices of one shard, the unit that can be worked on side by side. Default 50,000.
    var shardSize = 50_000
}
