// SPDX-License-Identifier: Apache-2.0
import Glibc
package import HTTPServer
package import RelayAPI
package import RelayStore
package import Signing
package import Telemetry
package import WireFormat

/// All that the owner decides, with defaults filled in and every fault ruled out.
package struct RelayConfiguration: Sendable, Equatable {
    package static let defaultPath = "/etc/upgrade-relay/config.json5"
    package static let pathVariable = "UPGRADE_RELAY_CONFIG"

    package var store = StoreConfiguration()
    package var listen = ListenConfiguration()
    package var webhooks = WebhooksConfiguration()
    /// The way out of everything that is dialled and names no other.
    package var egress = EgressConfiguration()
    package var notify: [NotifyConfiguration] = []
    package var enforce = EnforceRules()
    package var fanOut = FanOutConfiguration()
    package var log = LogConfiguration()
    /// One entry for each app and platform, ordered by app, then platform.
    package var apps: [AppConfiguration] = []
    /// Of what relays that share a store are to have in common, in hex.
    package var digest = ""
}

package struct StoreConfiguration: Sendable, Equatable {
    package enum Database: Sendable, Equatable {
        case sqlite(path: String)
        case postgres(PostgresConfiguration)
    }

    package static let defaultPath = "/var/lib/upgrade-relay/relay.db"

    /// What it is in. Default SQLite's file at `defaultPath`.
    package var database = Database.sqlite(path: defaultPath)
    /// Whether an SQLite file is named beside PostgreSQL.
    var hasUnusedPath = false
    /// How long the deliveries of campaigns that ended, and what else nobody needs any more, are kept. nil: for ever. Default
    /// nil.
    package var keep: Duration?
    /// How long it is kept who did what. nil: for ever. Default 400 days: a year can be looked back upon.
    package var keepAudit: Duration? = .seconds(400 * 86_400)

    /// What this relay is called among those of the store, where that is configured.
    package var node: String? {
        if case .postgres(let postgres) = database { postgres.node } else { nil }
    }

    /// Where it is, as an operator is told.
    package var place: String {
        switch database {
        case .sqlite(let path): path
        case .postgres(let postgres): "PostgreSQL, schema \(postgres.schema)"
        }
    }
}

/// A database of PostgreSQL.
package struct PostgresConfiguration: Sendable, Equatable {
    /// libpq's URL or `key=value` text, without a password. It is not shown: somebody may have written one into it.
    package var url: String
    /// nil where the server asks for none, or libpq finds it in its own places.
    package var password: SecretSource?
    /// Where the tables are. Default upgrade_relay.
    package var schema = "upgrade_relay"
    /// How many sessions there are at most. Default 8.
    package var connections = 8
    /// What this relay is called among those of the store; nil: as its machine is.
    package var node: String?

    package init(url: String) {
        self.url = url
    }
}

package struct ListenConfiguration: Sendable, Equatable {
    /// Where the HTTP API listens. Default 127.0.0.1:8480.
    package var address = ListenAddress(host: "127.0.0.1", port: 8480)
    /// A second address, for metrics, readiness and the document alone; the first one does not tell them then. Default none.
    package var operations: ListenAddress?
    /// The operator's socket. Default /run/upgrade-relay/control.sock.
    package var controlSocket = ListenConfiguration.defaultControlSocket

    /// The group whose members may use the control socket too. Default none.
    package var controlSocketGroup: SystemGroup?
    /// What TLS is spoken with. Default none: plain HTTP.
    package var tls: TLSConfiguration?
    package var limits = APILimits()
    package var checkTrust = CheckTrust.device
    /// Whose scripts may read the check and the launch document. Default nobody's.
    package var corsOrigins = WebOrigins.none
    /// Whether people's browsers are served the page. Default true.
    package var page = true

    /// What a running daemon cannot take anew; the certificate it can.
    package func needsRestart(from running: ListenConfiguration) -> Bool {
        address != running.address || operations != running.operations || controlSocket != running.controlSocket
            || controlSocketGroup != running.controlSocketGroup || limits != running.limits
            || checkTrust != running.checkTrust || corsOrigins != running.corsOrigins || page != running.page
            || (tls == nil) != (running.tls == nil)
    }

    package static let defaultControlSocket = "/run/upgrade-relay/control.sock"
}

/// Where the API's certificate and its key are kept, both PEM.
package struct TLSConfiguration: Sendable, Equatable {
    /// The server's own certificate first, then its chain.
    package var certificate: SecretSource
    package var key: SecretSource

    /// Reads both and finds out whether they belong together and hold.
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

    /// nil where there is none of that name.
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

/// Who is told of what people must see to, and of each change of a campaign's state.
package struct NotifyConfiguration: Sendable, Equatable {
    package var url: String
    /// What it is signed with. nil: not at all, which a chat system does not miss: its address is the secret.
    package var secret: SecretSource?
    /// Default JSON.
    package var format = NotificationFormat.json
    /// Which events it wants to hear of. Default the usual ones.
    package var events = EventType.usual
    /// The way to it. Default that of all.
    package var egress = EgressConfiguration()
}

package struct LogConfiguration: Sendable, Equatable {
    /// The least that a line must matter to be written. Default info.
    package var level = LogLevel.info
    /// What a line on standard error looks like. Default text.
    package var format = LogFormat.text
}

/// How a campaign's audience is cut and spread.
package struct FanOutConfiguration: Sendable, Equatable {
    /// Threads that each drive their own connections. Default 1: enough for hundreds of thousands of pushes a second.
    package var lanes = 1
    /// Devices that are read, sent and recorded together. What kill -9 may make the relay send twice is bounded by the
    /// batches in flight: 16 for each push service, and what fills the streams of its connections (`BatchBudget`). Default 500.
    package var batch = 500
    /// Devices of one shard, the unit that can be worked on side by side. Default 50,000.
    package var shardSize = 50_000
}
