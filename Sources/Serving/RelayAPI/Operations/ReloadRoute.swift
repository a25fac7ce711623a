// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayStore
package import Requirements
import WireFormat

/// A configuration that was accepted.
package struct ReloadReport: Sendable, Hashable {
    package var apps: Int
    /// The parts without effect so far: changes that need a restart, and versions that wait for a store that the new
    /// configuration does not name.
    package var warnings: [String]

    package init(apps: Int, warnings: [String] = []) {
        self.apps = apps
        self.warnings = warnings
    }
}

extension ReloadReport {
    static let shape = Shape<ReloadReport>(
        "Reload", "An applied configuration.",
        [
            .member(.status, .words(["reloaded"])) { _ in "reloaded" },
            .member(.apps, .integer, "The configured apps and platforms.") { $0.apps },
            .member(.warnings, .list(of: .text), "Changes that need a restart.") { $0.warnings },
        ])

    package func entry(by actor: Signature) -> AuditEntry {
        AuditEntry(.relayReload, by: actor, to: [.apps: .integer(apps)])
    }
}

extension API {
    func reload(by caller: Caller) throws -> Response {
        let report = try control.reload(by: caller.actor.name)
        store.note(report.entry(by: Signature(by: caller.actor, at: now())), log: settings.log)
        return .json { $0.object(report, ReloadReport.shape) }
    }
}
