// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether a connection is protected against eavesdropping. libpq's own default, `prefer`, continues in clear where
/// anyone on the path claims that the server has no TLS, and then sends the password in clear on request.
struct ConninfoProtection {
    /// The values in the configuration's text.
    let sslmode, service: String?
    let servers: [[Conninfo.Option]]
    /// The process's environment, from which libpq takes options that the text leaves out.
    let environment: [String: String]

    /// With these, libpq asks for TLS and continues in clear without it, which protects against no attacker.
    private static let optional: Set<String> = ["allow", "prefer"]
    private static let known: Set<String> = ["require", "verify-ca", "verify-full"]

    /// Why the connection must not be used; nil: it may be used. Continues a message that begins with "store.postgres.url".
    var problem: String? {
        // An explicit choice, even of "disable".
        if let sslmode, sslmode == "disable" || Self.known.contains(sslmode) { return nil }
        if let sslmode, !Self.optional.contains(sslmode) {
            return "has an sslmode that PostgreSQL does not know"
        }
        // The service's file may name any server, and is read at each connection.
        if service != nil || environment["PGSERVICE"].map({ !$0.isEmpty }) == true {
            let origin = service == nil ? " (PGSERVICE in the environment)" : ""
            return "names a service\(origin), whose file may name a server anywhere, and \(lack)"
        }
        guard let remote = servers.lazy.flatMap(places).first(where: { !Self.isOfThisMachine($0) }) else { return nil }
        return "names \(remote), which is another machine, and \(lack)"
    }

    static let hint =
        "Add sslmode=verify-full, and sslrootcert=… where the server's certificate is not of an authority that all know; "
        + "sslmode=disable sends the password and all rows in clear text. PGSSLMODE of the environment "
        + "does not count"

    private var lack: String {
        sslmode.map { "sslmode=\($0), with which the password may go in clear" }
            ?? "says no sslmode, so that the password may go in clear"
    }

    /// The hosts that libpq would connect to. An address has precedence over a name, and the text over the environment.
    private func places(of server: [Conninfo.Option]) -> [String] {
        func said(_ keyword: String, _ variable: String) -> [String] {
            if let value = server.first(where: { $0.keyword == keyword })?.value { return [value] }
            return (environment[variable] ?? "").split(separator: ",").map(String.init)
        }
        let addresses = said("hostaddr", "PGHOSTADDR")
        return addresses.isEmpty ? said("host", "PGHOST") : addresses
    }

    /// - Parameter place: a host or an address in libpq's form: a path names a socket, "@" begins an abstract socket.
    static func isOfThisMachine(_ place: String) -> Bool {
        if place.hasPrefix("/") || place.hasPrefix("@") || place.lowercased() == "localhost" { return true }
        var four = in_addr()
        if unsafe inet_pton(AF_INET, place, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, place, &six) == 1 else { return false }
        let bytes = unsafe withUnsafeBytes(of: &six) { unsafe [UInt8]($0) }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        return isMapped ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }
}
