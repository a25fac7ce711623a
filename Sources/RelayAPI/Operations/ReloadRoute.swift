// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import WireFormat

/// A configuration that was taken.
package struct ReloadReport: Sendable, Hashable {
    package var apps: Int
    /// What the new configuration does not do by itself: what needs a restart, and what waits for a store that it does not name.
    package var warnings: [String]

    package init(apps: Int, warnings: [String] = []) {
        self.apps = apps
        self.warnings = warnings
    }
}

extension API {
    func reload(by caller: Caller) throws -> Response {
        let report = try control.reload(by: caller.actor)
        return .json { writer in
            writer.object { writer in
                writer.members([.status: "reloaded", .apps: report.apps, .warnings: report.warnings])
            }
        }
    }
}
