// SPDX-License-Identifier: Apache-2.0
import CPostgres
package import RelayStore

/// Where the database is, in libpq's form: a `postgresql://` URL or `key=value` text (postgresql.org/docs, "libpq",
/// "Connection Strings"). It holds no secret.
package struct Conninfo: Sendable {
    typealias Option = (keyword: String, value: String)

    /// The options for all servers, with the relay's additions.
    let options: [Option]
    /// `host`, `hostaddr` and `port` of each server, in the order in which they are tried.
    let servers: [[Option]]
    /// The longest time to connect to one server.
    let timeout: Duration
    /// For messages: "db1,db2/relay".
    package let place: String

    /// Options that are added where the text does not set them. Keepalives detect within 5 s that a server is gone.
    private static let additions: [Option] = [
        // Among several servers, the writable one is used; a standby is refused with a message.
        ("target_session_attrs", "read-write"),
        ("keepalives_idle", "2"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
        // Milliseconds. Keepalives are not sent while data is unacknowledged.
        ("tcp_user_timeout", "5000"),
    ]

    /// - Parameters:
    ///   - application: the relay's name in the server's lists of sessions.
    ///   - environment: this process's environment, where libpq looks for options that the text leaves out. Default empty.
    /// - Throws: `StoreError`, `.failed`, which quotes no part of the text that may belong to a password. Also thrown
    ///   where a password might be sent in clear and the text does not allow that.
    package init(
        _ text: String, application: String, environment: [String: String] = [:], library: PostgresLibrary
    ) throws(StoreError) {
        func refusal(_ problem: String, _ hint: String) -> StoreError {
            StoreError(.failed, context: "store.postgres.url \(problem)", hint: hint)
        }
        let percent = "Write \"@\", \"/\", \":\" and \"?\" within a part of the URL as %40, %2F, %3A and %3F"
        guard !text.isEmpty else {
            throw refusal("is empty", "As in \"postgresql://relay@db1/relay?sslmode=verify-full\"")
        }
        guard !Self.hasStrayAt(text) else { throw refusal("has an \"@\" behind its host, or a second one", percent) }
        var given = try Self.parse(text)
        for secret in ["password", "sslpassword"] where given[secret] != nil {
            throw refusal(
                "has a \(secret) in it", "Take it out, and name where it is kept: { password: { credential: \"…\" } }")
        }
        let hosts = Self.list(given.removeValue(forKey: "host"))
        let addresses = Self.list(given.removeValue(forKey: "hostaddr"))
        let ports = Self.list(given.removeValue(forKey: "port"))
        // The text between a ":" and a "/" may be the first half of a password.
        guard ports.allSatisfy({ $0.isEmpty || UInt16($0).map { $0 > 0 } ?? false }) else {
            throw refusal("has a port that is no number from 1 to 65535", percent)
        }
        let count = max(hosts.count, addresses.count, 1)
        guard [hosts.count, addresses.count].allSatisfy({ $0 == 0 || $0 == count }),
            [0, 1, count].contains(ports.count)
        else {
            throw refusal(
                "names \(count) hosts, but not as many ports or addresses", "One for each, or one port for all")
        }
        servers = (0..<count).map { index in
            let port = ports.count == 1 ? ports.first : ports.dropFirst(index).first
            let parts = [
                ("host", hosts.dropFirst(index).first), ("hostaddr", addresses.dropFirst(index).first), ("port", port),
            ]
            return parts.compactMap { keyword, value in value.flatMap { $0.isEmpty ? nil : (keyword, $0) } }
        }
        let protection = ConninfoProtection(
            sslmode: given["sslmode"], service: given["service"], servers: servers, environment: environment)
        if let problem = protection.problem { throw refusal(problem, ConninfoProtection.hint) }
        let seconds = given.removeValue(forKey: "connect_timeout").flatMap { Int($0) } ?? 0
        timeout = .seconds(seconds > 0 ? seconds : 3)
        place = (hosts.isEmpty ? addresses : hosts).joined(separator: ",") + "/" + (given["dbname"] ?? "")
        for (keyword, value) in Self.additions + [("application_name", application)] where given[keyword] == nil {
            given[keyword] = value
        }
        given["client_encoding"] = "UTF8"
        options = given.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Whether a URL has an "@" other than the one that ends its user: libpq splits a password with "@", "/" or "?" in
    /// it at the wrong place, and a part of it would become a host, a port or a database, and appear in every message.
    private static func hasStrayAt(_ text: String) -> Bool {
        guard let scheme = ["postgresql://", "postgres://"].first(where: text.hasPrefix) else { return false }
        let rest = text.dropFirst(scheme.count)
        guard let first = rest.firstIndex(of: "@") else { return false }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        return first > end || rest[rest.index(after: first)...].contains("@")
    }

    private static func list(_ value: String?) -> [String] {
        value.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
    }

    private static func parse(_ text: String) throws(StoreError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe relay_PQconninfoParse(text, &message) else {
            var words = unsafe message.map { unsafe String(cString: $0) } ?? "it cannot be read"
            unsafe relay_PQfreemem(message)
            // libpq quotes parts of the text.
            words = words.replacing(#/"[^\n]*"/#, with: "…").split(whereSeparator: \.isNewline).joined(separator: " ")
            throw StoreError(
                .failed, context: "store.postgres.url is none that PostgreSQL understands: \(words)",
                hint: "As in \"postgresql://relay@db1/relay?sslmode=verify-full\"")
        }
        defer { unsafe relay_PQconninfoFree(options) }
        var found: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val { unsafe found[String(cString: keyword)] = String(cString: value) }
            unsafe option += 1
        }
        return found
    }
}
