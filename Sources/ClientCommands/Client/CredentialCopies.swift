// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The credentials of the running service, as systemd copied them when it started (systemd.exec(5), LoadCredential=), beside
/// the files that they were copied from. Only root can compare them: both are closed to all others.
struct CredentialCopies {
    static let usualSources = "/etc/upgrade-relay/secrets"

    var copies = "/run/credentials/upgrade-relay.service"
    var sources = CredentialCopies.usualSources

    /// The names of those whose source has other bytes now; what cannot be read is left out.
    func changed() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: copies)) ?? []
        return names.sorted().filter { name in
            guard let copy = FileManager.default.contents(atPath: "\(copies)/\(name)"),
                let source = FileManager.default.contents(atPath: "\(sources)/\(name)")
            else { return false }
            return copy != source
        }
    }
}
