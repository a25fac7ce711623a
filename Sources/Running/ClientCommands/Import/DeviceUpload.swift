// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// Sends devices to the API, many thousand at a time, and counts the outcomes. While one request is in flight, the next is
/// filled. There are never two in flight, so that the later of two lines with the same token wins.
package struct DeviceUpload: Sendable {
    /// The lines of one request at first, at most and at least, and the bytes after which it is sent anyway. A request takes about
    /// a second or a few: long enough for the relay to store much at once, short enough for the time-out and for the progress bar.
    package static let linesAtFirst = 16_384
    package static let mostLines = 262_144
    package static let fewestLines = 1024
    package static let bytesPerRequest = 48 << 20

    package struct Tally: Sendable, Equatable {
        package var stored: Int64 = 0
        package var new: Int64 = 0
        package var updated: Int64 = 0
        package var unchanged: Int64 = 0
        package var versionsKept: Int64 = 0
        package var refusedCount: Int64 = 0
    }

    private struct Batch {
        var app: String
        var platform: String
        var body: [UInt8] = []
        /// The file's line for each line of the body.
        var lines: [Int] = []
        /// The lines as they stood in the file; empty where they are not kept.
        var raws: [[UInt8]] = []
    }

    /// A request in flight, or its answer.
    private struct Sending {
        var batch: Batch
        var answer: Task<(APIAnswer, Duration), any Error>
    }

    private let client: RelayClient
    private let isDryRun: Bool
    private var batches: [Batch] = []
    /// The index in `batches` of the last device's batch; nearly always the next device has the same.
    private var last = 0
    private var linesPerRequest = Self.linesAtFirst
    private var sending: Sending?
    package private(set) var tally = Tally()
    /// The refused lines that the caller has not taken yet.
    private var refused: [RefusedLine] = []

    /// The last line that was added.
    private var lastLine = 0
    /// The first line of a request whose answer is not noted, because it is pending or failed.
    private var lostLine: Int?

    /// - Parameter isDryRun: whether the relay only reports what it would do.
    package init(_ client: RelayClient, isDryRun: Bool = false) {
        self.client = client
        self.isDryRun = isDryRun
    }

    /// The last line up to which every line is stored or refused.
    package var settledLine: Int { firstOpenLine.map { $0 - 1 } ?? lastLine }

    private var firstOpenLine: Int? {
        (batches.map(\.lines.first) + [sending?.batch.lines.first, lostLine]).compactMap(\.self).min()
    }

    package mutating func add(_ items: [DeviceReader.Item]) async throws {
        for item in items {
            switch item {
            case .refused(let refused):
                refuse(refused)
                lastLine = max(lastLine, refused.line)
            case .device(let line, let device):
                lastLine = max(lastLine, line)
                if keep(device, line) { try await send(batches.remove(at: last)) }
            }
        }
    }

    package mutating func finish() async throws {
        let rest = batches.sorted { ($0.app, $0.platform) < ($1.app, $1.platform) }
        batches = []
        for batch in rest { try await send(batch) }
        try await settle()
    }

    /// Returns the lines that were refused since the last call, in the order of the file; those behind a line that is still in
    /// flight come with a later call. Returned lines are not kept.
    package mutating func takeRefused() -> [RefusedLine] {
        let open = firstOpenLine ?? .max
        let sorted = refused.sorted { $0.line < $1.line }
        let border = sorted.firstIndex { $0.line > open } ?? sorted.endIndex
        refused = Array(sorted[border...])
        return Array(sorted[..<border])
    }

    /// Adds the device to its batch, which `last` then names, and returns whether the batch is full.
    private mutating func keep(_ device: DeviceLine, _ line: Int) -> Bool {
        if !batches.indices.contains(last) || batches[last].app != device.app
            || batches[last].platform != device.platform
        {
            last =
                batches.firstIndex { $0.app == device.app && $0.platform == device.platform } ?? batches.endIndex
            if last == batches.endIndex { batches.append(Batch(app: device.app, platform: device.platform)) }
        }
        batches[last].body += device.json
        batches[last].body.append(UInt8(ascii: "\n"))
        batches[last].lines.append(line)
        if let raw = device.raw { batches[last].raws.append(raw) }
        // The batches of several apps share the room that one app alone has.
        return batches[last].lines.count >= max(linesPerRequest / batches.count, Self.fewestLines)
            || batches[last].body.count >= Self.bytesPerRequest / batches.count
    }

    private mutating func send(_ batch: Batch) async throws {
        try await settle()
        let request = self.request(batch)
        sending = Sending(
            batch: batch,
            answer: Task { [transport = client.transport] in
                let began = ContinuousClock.now
                return (try await transport.send(request), ContinuousClock.now - began)
            })
    }

    private func request(_ batch: Batch) -> APIRequest {
        var request = APIRequest(
            "POST", ["v1", "apps", batch.app, batch.platform, "devices"], query: [("dryRun", isDryRun ? "true" : nil)])
        request.body = batch.body
        request.contentType = "application/x-ndjson"
        return request
    }

    /// Waits for the request in flight, if there is one, and notes its answer. Must be called where the import ends early,
    /// because the relay stores that request all the same.
    package mutating func settle() async throws {
        guard let sending else { return }
        self.sending = nil
        // Kept until the answer is noted.
        lostLine = sending.batch.lines.first
        let (answer, duration) = try await withTaskCancellationHandler {
            try await sending.answer.value
        } onCancel: {
            sending.answer.cancel()
        }
        if duration < .seconds(1) { linesPerRequest = min(linesPerRequest * 2, Self.mostLines) }
        if duration > .seconds(4) { linesPerRequest = max(linesPerRequest / 2, Self.fewestLines) }
        guard let reply = try await note(answer, sending.batch) else {
            lostLine = nil
            return
        }
        lostLine = nil
        tally.stored += reply.count(.stored)
        tally.new += reply.count(.new)
        tally.updated += reply.count(.updated)
        tally.unchanged += reply.count(.unchanged)
        tally.versionsKept += reply.count(.versionsKept)
    }

    /// - Returns: the relay's counts; nil where the relay does not know the app.
    private mutating func note(_ answer: APIAnswer, _ batch: Batch) async throws -> JSONValue? {
        // The relay does not know this app: its lines cannot be stored, those of other apps can.
        if answer.status == 404 {
            let reason = Problem(answer).message.replacing("\n", with: " ")
            for index in batch.lines.indices { refuse(batch, index, reason) }
            return nil
        }
        guard answer.isSuccess else { throw Problem(answer).failure }
        let reply = try RelayClient.Reply(answer).json
        let entries = reply.list(.refused)
        var lastNamed = 0
        for entry in entries {
            let number = Int(entry.count(.line))
            lastNamed = max(lastNamed, number)
            if batch.lines.indices.contains(number - 1) {
                refuse(batch, number - 1, entry.shown(.reason))
            } else {
                refuse(RefusedLine(line: number, reason: entry.shown(.reason)))
            }
        }
        let unnamed = reply.count(.refusedCount) - Int64(entries.count)
        if unnamed > 0, (1..<batch.lines.count).contains(lastNamed) {
            try await askAgain(batch, after: lastNamed, unnamed: unnamed)
        } else {
            // The relay did not name each refused line; the count must be right all the same.
            tally.refusedCount += max(0, unnamed)
        }
        return reply
    }

    /// The relay names a limited number of refused lines with their reasons and counts the rest. The lines behind the last one
    /// that it named are sent again, which is harmless, and fewer each time.
    private mutating func askAgain(_ batch: Batch, after named: Int, unnamed: Int64) async throws {
        let before = tally.refusedCount
        var rest = Batch(app: batch.app, platform: batch.platform)
        rest.lines = Array(batch.lines[named...])
        rest.raws = Array(batch.raws.dropFirst(named))
        let ends = batch.body.indices.lazy.filter { batch.body[$0] == UInt8(ascii: "\n") }
        rest.body = Array(batch.body[(ends.dropFirst(named - 1).first.map { $0 + 1 } ?? 0)...])
        _ = try await note(try await client.transport.send(self.request(rest)), rest)
        // The relay's configuration may have changed in between: the first count is a lower bound.
        tally.refusedCount = max(tally.refusedCount, before + unnamed)
    }

    private mutating func refuse(_ batch: Batch, _ index: Int, _ reason: String) {
        refuse(
            RefusedLine(
                line: batch.lines[index], reason: reason,
                raw: batch.raws.indices.contains(index) ? batch.raws[index] : nil))
    }

    private mutating func refuse(_ line: RefusedLine) {
        tally.refusedCount += 1
        refused.append(line)
    }
}
