// SPDX-License-Identifier: Apache-2.0
import APIModel
import HTTPServer
import RelayStore
import Threading
import WireFormat

/// A list of any length as CSV or NDJSON, a thousand items at a time: no more of it is ever in memory, and no snapshot of the store
/// is held on to.
final class ListExport<Item>: ByteSource {
    private static var batch: Int { 1000 }
    /// Batches without anything to show, after which others have their turn for so many milliseconds.
    private static var mostEmpty: Int { 16 }
    private static var pause: Int64 { 1 }

    private let form: ListForm
    private let format: LineFormat<Item>
    private let stop: CancellationFlag
    private let isWanted: (Item) -> Bool
    private let read: (Item?, Int) throws -> [Item]
    private var last: Item?
    private var hasBegun = false
    private var isDone = false

    /// - Parameters:
    ///   - isWanted: what else is read is passed over.
    ///   - read: up to so many items from behind one; from the beginning where there is none.
    init(
        _ form: ListForm, _ format: LineFormat<Item>, stop: CancellationFlag,
        isWanted: @escaping (Item) -> Bool = { _ in true }, read: @escaping (Item?, Int) throws -> [Item]
    ) {
        self.form = form
        self.format = format
        self.stop = stop
        self.isWanted = isWanted
        self.read = read
    }

    func next() throws -> BodyPiece {
        for _ in 0..<Self.mostEmpty {
            if isDone { return .end }
            if stop.isSet { throw ProblemDetails(503, "the relay is stopping") }
            let found = try read(last, Self.batch)
            last = found.last ?? last
            isDone = found.count < Self.batch
            let bytes = lines(found.filter(isWanted))
            hasBegun = true
            if !bytes.isEmpty { return .bytes(bytes) }
        }
        return .later(Self.pause)
    }

    private func lines(_ items: [Item]) -> [UInt8] {
        if form == .csv {
            var bytes: [UInt8] = []
            bytes.reserveCapacity((items.count + 1) * 200)
            if !hasBegun { CSVText.append(format.columns.map(\.rawValue), to: &bytes) }
            for item in items { CSVText.append(format.cells(item), to: &bytes) }
            return bytes
        }
        var writer = JSONWriter(reserving: items.count * 240)
        for item in items {
            format.json(&writer, item)
            writer.newLine()
        }
        return writer.bytes
    }

    var response: Response {
        Response(status: 200, headers: [("Content-Type", form.contentType)], body: .stream(self))
    }
}
