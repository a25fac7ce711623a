// SPDX-License-Identifier: Apache-2.0
import APIModel
import HTTPServer
import RelayStore
import Threading
import WireFormat

/// The registry of one app as NDJSON, a thousand devices at a time.
final class DeviceExport: ByteSource {
    private static let batch = 1000

    private let store: any RelayStore
    private let app: AppKey
    private let stop: CancellationFlag
    private var last: Int64 = 0
    private var isDone = false

    init(store: any RelayStore, app: AppKey, stop: CancellationFlag) {
        self.store = store
        self.app = app
        self.stop = stop
    }

    func next() throws -> BodyPiece {
        if isDone { return .end }
        if stop.isSet { throw ProblemDetails(503, "the relay is stopping") }
        let records = try store.devices(of: app, after: last, limit: Self.batch)
        guard let newest = records.last else { return .end }
        last = newest.id
        isDone = records.count < Self.batch
        var writer = JSONWriter(reserving: records.count * 240)
        for record in records {
            writer.object { writer in
                writer.registrationMembers(record.registration)
                writer.member(.registeredAt, record.registeredAt)
                writer.member(.deadSince, record.retiredAt)
            }
            writer.newLine()
        }
        return .bytes(writer.bytes)
    }
}
