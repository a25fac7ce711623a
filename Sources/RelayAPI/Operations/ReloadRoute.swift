// SPDX-License-Identifier: Apache-2.0
import APIModel
import HTTPServer
import RelayEngine
import WireFormat

/// A configuration that was taken.
package struct ReloadReport: Sendable, Hashable {
    package var apps: Int
    /// What changed and is only read at the start, as the configuration names it: "listen".
    package var needRestart: [String]

    package init(apps: Int, needRestart: [String] = []) {
        self.apps = apps
        self.needRestart = needRestart
    }
}

extension API {
    func reload(by caller: Caller) throws -> Response {
        let report = try control.reload(by: caller.actor)
        return .json { writer in
            writer.object { writer in
                writer.member(.status, "reloaded")
                writer.member(.apps, Int64(report.apps))
                writer.member(
                    .warnings, strings: report.needRestart.map { "what changed in \($0) needs a restart" })
            }
        }
    }
}
