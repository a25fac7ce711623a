// SPDX-License-Identifier: Apache-2.0
import HTTPServer
package import RelayStore
import WireFormat

extension API {
    func storeStatus() throws -> Response {
        .json(200, StoreDocument.json(of: try store.status()))
    }
}

/// A store's status as `GET /v1/store` and `store status --json` say it.
package enum StoreDocument {
    package static func json(of status: StoreStatus) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(.path, status.path)
            writer.member(.size, status.size)
            writer.member(.schemaVersion, Int64(status.schemaVersion))
            writer.member(.newestSchemaVersion, Int64(status.newestSchemaVersion))
            writer.array(.chain, status.chain) { writer, step in
                writer.object([.version: step.version, .name: step.name, .appliedAt: step.appliedAt])
            }
            writer.release(.firstInstalled, status.firstInstalled)
            writer.release(.current, status.current)
        }
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func release(_ field: Field, _ release: StoreRelease?) {
        name(field)
        guard let release else { return null() }
        object([.release: release.release, .schemaVersion: release.schemaVersion, .openedAt: release.openedAt])
    }
}
