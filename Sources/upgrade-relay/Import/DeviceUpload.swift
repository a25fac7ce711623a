// SPDX-License-Identifier: Apache-2.0

/// Sends devices to the API a few thousand at a time, and keeps account of what became of them.
struct DeviceUpload: Sendable {
    /// Lines of one request, and bytes after which it is sent all the same.
    static let linesPerRequest = 2000
    static let bytesPerRequest = 1 << 20

    struct Tally: Sendable, Equatable {
        var stored: Int64 = 0
        var refusedCount: Int64 = 0
    }

    private struct Place: Hashable {
        var app: String
        var platform: String
    }

    private struct Batch {
        var body: [UInt8] = []
        /// The file's line for each line of the body.
        var lines: [Int] = []
    }

    private let client: RelayClient
    private var batches: [Place: Batch] = [:]
    private(set) var tally = Tally()
    /// Not yet taken.
    private var refused: [RefusedLine] = []

    init(_ client: RelayClient) {
        self.client = client
    }

    mutating func add(_ item: DeviceReader.Item) async throws {
        switch item {
        case .refused(let refused):
            refuse(refused)
        case .device(let line, let device):
            let place = Place(app: device.app, platform: device.platform)
            batches[place, default: Batch()].body += device.json
            batches[place, default: Batch()].body.append(UInt8(ascii: "\n"))
            batches[place, default: Batch()].lines.append(line)
            if let batch = batches[place],
                batch.lines.count >= Self.linesPerRequest || batch.body.count >= Self.bytesPerRequest
            {
                batches[place] = nil
                try await send(batch, to: place)
            }
        }
    }

    mutating func finish() async throws {
        let rest = batches.sorted { ($0.key.app, $0.key.platform) < ($1.key.app, $1.key.platform) }
        batches = [:]
        for (place, batch) in rest { try await send(batch, to: place) }
    }

    /// The lines that were refused since the last call, by their numbers: nothing of them is kept here.
    mutating func takeRefused() -> [RefusedLine] {
        defer { refused = [] }
        return refused.sorted { $0.line < $1.line }
    }

    private mutating func send(_ batch: Batch, to place: Place) async throws {
        let path = APIPath.make(["v1", "apps", place.app, place.platform, "devices"])
        let request = APIRequest("POST", path, body: batch.body, contentType: "application/x-ndjson")
        let answer = try await client.transport.send(request)
        // Nobody knows this app: its lines cannot be stored, those of others can.
        if answer.status == 404 {
            let reason = Problem(answer).message.replacing("\n", with: " ")
            for line in batch.lines { refuse(RefusedLine(line: line, reason: reason)) }
            return
        }
        guard answer.isSuccess else { throw Problem(answer).failure }
        let reply = try RelayClient.reply(answer).tree
        tally.stored += reply.count("stored")
        let entries = reply["refused"]?.array ?? []
        for entry in entries {
            let number = Int(entry.count("line"))
            let line = batch.lines.indices.contains(number - 1) ? batch.lines[number - 1] : number
            refuse(RefusedLine(line: line, reason: entry.shown("reason")))
        }
        // The relay answers each line of a request of this size; one that did not must not make the count wrong.
        tally.refusedCount += max(0, (reply["refusedCount"]?.integer ?? 0) - Int64(entries.count))
    }

    private mutating func refuse(_ line: RefusedLine) {
        tally.refusedCount += 1
        refused.append(line)
    }
}
