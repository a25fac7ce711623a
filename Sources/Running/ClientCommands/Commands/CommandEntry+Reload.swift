// SPDX-License-Identifier: Apache-2.0
import Terminal
import Threading
import WireFormat

extension CommandEntry {
    static let reload = client("reload") { run in
        let reply = try await run.client().reply(to: APIRequest("POST", ["v1", "reload"]))
        for name in CredentialCopies().changed() {
            run.console.writeError(
                "warning: the credential \(name) has changed in \(CredentialCopies.usualSources); a reload does not renew "
                    + "it, \"systemctl restart upgrade-relay\" does\n")
        }
        let warnings = reply.json.list(.warnings).compactMap(\.string)
        for warning in warnings { run.console.writeError("warning: \(DisplayWidth.sanitised(warning))\n") }
        run.show(reply.text, "reloaded: \(Quantity.count(reply.json.count(.apps), "app"))\n")
        return .done
    }
}

/// The credentials of the running service, as systemd copied them when it started (systemd.exec(5), LoadCredential=), beside
/// the files that they were copied from. Only root can compare them: both are closed to all other users.
struct CredentialCopies {
    static let usualSources = "/etc/upgrade-relay/secrets"

    /// The most bytes read of a file. systemd accepts no credential of more than a megabyte.
    private static let largest = 16 << 20

    var copies = "/run/credentials/upgrade-relay.service"
    var sources = CredentialCopies.usualSources

    /// The names of the credentials whose source file has changed; a credential that cannot be read is left out.
    func changed() -> [String] {
        let names = (try? Folder.names(copies)) ?? []
        return names.sorted().filter { name in
            guard let copy = try? WholeFile.read("\(copies)/\(name)", limit: Self.largest),
                let source = try? WholeFile.read("\(sources)/\(name)", limit: Self.largest)
            else { return false }
            return copy != source
        }
    }
}
