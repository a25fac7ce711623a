// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
package import Requirements
import Telemetry

/// The figures of one source of versions, for metrics.
package struct SourceFigures: Sendable, Hashable {
    package var app: AppKey
    /// Its kind, with a number where an app has several sources of that kind: "launchGateURL#2".
    package var name: String
    package var isFailing = false
    package var failures = 0
    package var lastSuccess: Timestamp?
}

extension SourceRunner {
    /// The figures of every watched source, in the order of their parts.
    package func figures() -> [SourceFigures] {
        status.read { state in
            state.figures.sorted { $0.key < $1.key }.map { part, figures in
                var figures = figures
                figures.isFailing = state.faults.text(part) != nil
                return figures
            }
        }
    }
}

extension SourceLoop {
    /// Forgets the sources that are not watched any more, and begins to count for new ones.
    func beginCounting(_ watched: [Watched]) {
        runner.status.write { state in
            let before = state.figures
            state.figures = [:]
            for one in watched {
                // "source:com.example.app/ios:appStore#2": the last part is the source's own.
                let name = String(one.part.split(separator: ":").last ?? "")
                state.figures[one.part] = before[one.part] ?? SourceFigures(app: one.source.app, name: name)
            }
        }
    }
}
