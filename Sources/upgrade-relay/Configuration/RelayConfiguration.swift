// SPDX-License-Identifier: Apache-2.0
import RelayStore

/// All that the owner decides, with defaults filled in and every fault ruled out.
struct RelayConfiguration: Sendable, Equatable {
    static let defaultPath = "/etc/upgrade-relay/config.json5"
    static let pathVariable = "UPGRADE_RELAY_CONFIG"

    var store = StoreConfiguration()
    var listen = ListenConfiguration()
    var webhooks = WebhooksConfiguration()
    /// One entry for each app and platform, ordered by app, then platform.
    var apps: [AppConfiguration] = []

    func app(_ key: AppKey) -> AppConfiguration? {
        apps.first { $0.key == key }
    }
}

struct StoreConfiguration: Sendable, Equatable {
    /// The SQLite file. Default /var/lib/upgrade-relay/relay.db.
    var sqlitePath = "/var/lib/upgrade-relay/relay.db"
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
