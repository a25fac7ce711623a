// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Threading
import WireFormat

/// A list of any length as CSV or NDJSON, a thousand items at a time: no more of it is ever in memory, and no snapshot of the store
/// is held on to.
final class ListExport<Item>: ByteSource {
    private static var batch: Int { 1000 }
    /// Milliseconds of reading without an item to show, after which it pauses for `pause` milliseconds in favour of other work.
    private static var patience: Int64 { 50 }
    private static var pause: Int64 { 1 }

    private let form: ListForm
    private let format: LineFormat<Item>
    private let sight: Redaction
    private let stop: CancellationFlag
    private let clock: () -> Int64
    private let isWanted: (Item) -> Bool
    private let read: (Item?, Int) throws -> ([Item], isLast: Bool)
    private var last: Item?
    private var hasBegun = false
    private var isDone = false

    /// - Parameters:
    ///   - sight: whether the reader may see people's data.
    ///   - clock: milliseconds of a monotonic clock.
    ///   - isWanted: whether an item is shown.
    ///   - read: returns up to the given number of items after the given one (nil: from the beginning), and whether the list ends
    ///     there.
    init(
        _ form: ListForm, _ format: LineFormat<Item>, for sight: Redaction, stop: CancellationFlag,
        clock: @escaping () -> Int64 = MonotonicClock.milliseconds,
        isWanted: @escaping (Item) -> Bool = { _ in true },
        read: @escaping (Item?, Int) throws -> ([Item], isLast: Bool)
    ) {
        self.form = form
        self.format = format
        self.sight = sight
        self.stop = stop
        self.clock = clock
        self.isWanted = isWanted
        self.read = read
    }

    func next() throws -> BodyPiece {
        let start = clock()
        while clock() - start < Self.patience {
            if isDone { return .end }
            if stop.isSet { throw ProblemDetails(503, "the relay is stopping") }
            let (found, isLast) = try read(last, Self.batch)
            last = found.last ?? last
            isDone = isLast
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
            if !hasBegun { CSVText.append(format.columns, to: &bytes) }
            for item in items { CSVText.append(format.cells(item, sight), to: &bytes) }
            return bytes
        }
        var writer = JSONWriter(reserving: items.count * 240)
        for item in items {
            format.json(&writer, item, sight)
            writer.newLine()
        }
        return writer.bytes
    }

    var response: Response {
        Response(status: 200, headers: [("Content-Type", form.contentType)], body: .stream(self))
    }
}
