// SPDX-License-Identifier: Apache-2.0
import Glibc
package import HTTPServer
package import RelayAPI
package import RelayStore
package import Requirements
package import Signing
package import Telemetry
package import WireFormat

/// The owner's settings, with defaults filled in and every fault ruled out.
package struct RelayConfiguration: Sendable, Equatable {
    package static let defaultPath = "/etc/upgrade-relay/config.json5"
    package static let pathVariable = "UPGRADE_RELAY_CONFIG"

    package var store = StoreConfiguration()
    package var listen = ListenConfiguration()
    package var webhooks = WebhooksConfiguration()
    /// The common egress settings, for every address without its own.
    package var egress = EgressConfiguration()
    package var notify: [NotifyConfiguration] = []
    package var enforce = EnforceRules()
    package var fanOut = FanOutConfiguration()
    package var log = LogConfiguration()
    /// One entry for each app and platform, ordered by app, then platform.
    package var apps: [AppConfiguration] = []
    /// A digest, in hex, of the parts that relays of one store must have in common.
    package var digest = ""
    /// The deprecated keys in use, with their replacements.
    var deprecated: [FieldFault] = []
}

package struct StoreConfiguration: Sendable, Equatable {
    package enum Database: Sendable, Equatable {
        case sqlite(path: String)
        case postgres(PostgresConfiguration)
    }

    package static let defaultPath = "/var/lib/upgrade-relay/relay.db"

    /// The database of the store. Default SQLite's file at `defaultPath`.
    package var database = Database.sqlite(path: defaultPath)
    /// Whether an SQLite file is named beside PostgreSQL.
    var hasUnusedPath = false
    /// How long the deliveries of campaigns that ended, and other data of no more use, are kept. nil: for ever. Default nil.
    package var keep: Duration?
    /// How long the audit (who did what) is kept. nil: for ever. Default 400 days, so that a whole year can be reviewed.
    package var keepAudit: Duration? = .seconds(400 * 86_400)

    /// This relay's configured name among the relays of the store; nil: it has none.
    package var node: String? {
        if case .postgres(let postgres) = database { postgres.node } else { nil }
    }

    /// The store's place, as it is shown to an operator.
    package var place: String {
        switch database {
        case .sqlite(let path): path
        case .postgres(let postgres): "PostgreSQL, schema \(postgres.schema)"
        }
    }
}

/// A database of PostgreSQL.
package struct PostgresConfiguration: Sendable, Equatable {
    /// libpq's URL or `key=value` text, without a password. It is not shown: the owner may have written a password into it.
    package var url: String
    /// nil where the server needs none, or libpq finds it in its own places.
    package var password: SecretSource?
    /// The schema of the tables. Default upgrade_relay.
    package var schema = "upgrade_relay"
    /// The most sessions. Default 8.
    package var connections = 8
    /// This relay's name among the relays of the store; nil: its machine's name.
    package var node: String?

    package init(url: String) {
        self.url = url
    }
}

package struct ListenConfiguration: Sendable, Equatable {
    /// The address of the HTTP API. Default 127.0.0.1:8480.
    package var address = ListenAddress(host: "127.0.0.1", port: 8480)
    /// A second address, which serves only health, readiness, metrics and the API's description; the first one then has no
    /// metrics, and readiness without details. Default none.
    package var operations: ListenAddress?
    /// The operator's socket. Default /run/upgrade-relay/control.sock.
    package var controlSocket = ListenConfiguration.defaultControlSocket

    /// The group whose members may use the control socket too. Default none.
    package var controlSocketGroup: SystemGroup?
    /// The certificate and key for TLS. Default none: plain HTTP.
    package var tls: TLSConfiguration?
    /// Whether the owner wrote `tls: null`: a proxy on the way to other machines has TLS. Default false.
    package var isPlainMeant = false
    package var limits = APILimits()
    package var checkTrust = CheckTrust.device
    /// The origins whose scripts may read the check and the launch document. Default none.
    package var corsOrigins = WebOrigins.none
    /// Whether browsers are served the status page. Default true.
    package var page = true
    /// The people whom a proxy signs in to the page. Default none.
    package var identity: ProxyIdentity?

    /// Whether a setting differs that a running daemon cannot reload. The certificate can be reloaded.
    package func needsRestart(from running: ListenConfiguration) -> Bool {
        address != running.address || operations != running.operations || controlSocket != running.controlSocket
            || controlSocketGroup != running.controlSocketGroup || limits != running.limits
            || checkTrust != running.checkTrust || corsOrigins != running.corsOrigins || page != running.page
            || (tls == nil) != (running.tls == nil) || identityNeedsRestart(from: running)
    }

    /// The server hands over no headers but those that it knew at its start. Rules that are taken away
    /// end at once.
    private func identityNeedsRestart(from running: ListenConfiguration) -> Bool {
        guard let identity else { return false }
        return identity.headers != running.identity?.headers
    }

    /// The fault of taking connections of other machines over plain HTTP, which the owner has not asked for; nil: none.
    package var plainFault: FieldFault? {
        guard tls == nil, !isPlainMeant, !address.isLoopback else { return nil }
        return FieldFault(
            "listen.tls",
            "missing, and \(address) takes connections of other machines: tokens and telephones cross the network in plain "
                + "HTTP. Name a certificate and its key; or write tls: null, if a proxy in front of the relay has TLS")
    }

    package static let defaultControlSocket = "/run/upgrade-relay/control.sock"
}

/// The places of the API's certificate and its key, both PEM.
package struct TLSConfiguration: Sendable, Equatable {
    /// The server's own certificate first, then its chain.
    package var certificate: SecretSource
    package var key: SecretSource

    /// Reads both and checks that they belong together and are valid.
    ///
    /// - Throws: `FieldFault` with the field.
    package func identity(environment: [String: String], now: Int64) throws(FieldFault) -> ServerIdentity {
        let chain = try certificate.read(at: "listen.tls.certificate", environment: environment)
        let key = try key.read(at: "listen.tls.key", environment: environment)
        do throws(CertificateFault) {
            return try ServerIdentity(chain: chain, privateKey: key, at: now)
        } catch {
            let place = error.part == .key ? self.key.place : certificate.place
            throw FieldFault("listen.tls.\(error.part.rawValue)", "\(place): \(error)")
        }
    }
}

/// A group of the system, by its name.
package struct SystemGroup: Sendable, Hashable {
    package var name: String
    package var id: UInt32

    /// nil where no group has that name.
    package init?(_ name: String) {
        var entry = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var room = [CChar](repeating: 0, count: 64 * 1024)
        guard unsafe getgrnam_r(name, &entry, &room, room.count, &found) == 0, unsafe found != nil else { return nil }
        self.name = name
        id = unsafe entry.gr_gid
    }
}

package struct WebhooksConfiguration: Sendable, Equatable {
    package struct Secret: Sendable, Equatable {
        package var source: SecretSource
        /// The apps whose webhooks it verifies. Default nil: all.
        package var apps: Set<String>?
    }

    /// Any of them may verify a signature; with none, every webhook is refused. Default none.
    package var secrets: [Secret] = []
}

/// A receiver of notifications: about matters that need a person's attention, and about each change of a campaign's state.
package struct NotifyConfiguration: Sendable, Equatable {
    package var url: String
    /// The secret that notifications are signed with. nil: unsigned, which suits a chat system: its address is the secret.
    package var secret: SecretSource?
    /// Default JSON.
    package var format = NotificationFormat.json
    /// The events that the receiver gets. Default the usual ones.
    package var events = EventType.usual
    /// The egress settings for the receiver. Default the common ones.
    package var egress = EgressConfiguration()
}

package struct LogConfiguration: Sendable, Equatable {
    /// The lowest level that is logged. Default info.
    package var level = LogLevel.info
    /// The form of a line on standard error. Default text.
    package var format = LogFormat.text
}

/// How a campaign's audience is divided among threads, batches and shards.
package struct FanOutConfiguration: Sendable, Equatable {
    /// Threads that each drive their own connections. Default 1: enough for hundreds of thousands of pushes a second.
    package var lanes = 1
    /// Devices that are read, sent and recorded together. After kill -9 the relay may send the batches in flight a second
    /// time: at most 16 for each push service, 32 of one that answers them within 100 ms, and those that fill the streams of its
    /// connections (`BatchBudget`). Default 500.
    package var batch = 500
    /// Devices of one shard, the unit of parallel work. Default 50,000.
    package var shardSize = 50_000
}
