// SPDX-License-Identifier: Apache-2.0
import PrivatePostgres
import Terminal
import WireFormat

/// The kind of the demo's store.
enum DemoStore: String, Sendable {
    case sqlite, postgres

    /// A running store, with its part of the configuration.
    struct Open: Sendable {
        /// The configuration's `store`, for a relay of this name.
        let settings: @Sendable (_ node: String?) -> JSONValue
        /// nil: the store is a file in the demo's directory.
        let server: PostgresServer?
    }

    /// Starts the server, where the store needs one: a private one, with PostgreSQL's default settings.
    ///
    /// - Parameter binaries: the folder of the server's programs; nil: there are none.
    func open(
        on ground: DemoGround, binaries: String? = PostgresServer.binaries
    ) throws(CommandFailure) -> Open {
        switch self {
        case .sqlite:
            let path = ground.databasePath
            return Open(settings: { _ in ["sqlite": ["path": .string(path)]] }, server: nil)
        case .postgres:
            do {
                let server = try PostgresServer(settings: [], binaries: binaries)
                let url = JSONValue.string(server.conninfo())
                return Open(
                    settings: { node in
                        ["postgres": node.map { ["url": url, "node": .string($0)] } ?? ["url": url]]
                    }, server: server)
            } catch let failure as PostgresServer.Failure {
                throw CommandFailure(.failed, failure.context, hint: failure.hint)
            } catch {
                throw CommandFailure(.failed, "PostgreSQL's server cannot be started: \(error)")
            }
        }
    }
}
