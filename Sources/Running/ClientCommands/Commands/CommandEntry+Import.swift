// SPDX-License-Identifier: Apache-2.0
import Terminal
import Threading

extension CommandEntry {
    static let devicesImport = client("devices import") { run in
        let interruption = CancellationFlag()
        let watcher = Task { if await Interruption.wait() != nil { interruption.set() } }
        defer { watcher.cancel() }
        var importing = try DeviceImporting(run)
        return try await importing.finish { interruption.isSet }
    }
}
