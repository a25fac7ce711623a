// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import VersionSources

/// Many devices as NDJSON: stored a thousand at a time while the rest is still on its way. A line that is refused keeps no
/// other line out, and is answered with its number and reason.
final class DeviceImport: BodyConsumer {
    private static let batch = 1000
    /// Characters of one reason: a line of many faults must not make a thousand lines of the answer.
    private static let longestReason = 400

    private let api: API
    private let app: AppKey
    private var lines: LineSplitter
    private var waiting: [DeviceRegistration] = []
    private var stored: Int64 = 0
    private var refused: [(line: Int, reason: String)] = []
    private var refusedCount: Int64 = 0
    private var failure: Problem?

    init(api: API, app: AppKey) {
        self.api = api
        self.app = app
        lines = LineSplitter(limit: api.settings.limits.line)
        waiting.reserveCapacity(Self.batch)
    }

    func consume(_ bytes: [UInt8]) {
        // After a failure the rest is read and dropped: HTTP/1.1 has no way to answer sooner that a client would hear.
        guard failure == nil else { return }
        lines.feed(bytes) { take($0, number: $1) }
    }

    func finish() -> Response {
        if failure == nil { lines.finish { take($0, number: $1) } }
        store()
        if var failure {
            failure.detail += "; \(stored) devices had been stored before, and sending all again does no harm"
            return failure.response
        }
        return .json { writer in
            writer.object { writer in
                writer.member("stored", stored)
                writer.member("refusedCount", refusedCount)
                writer.name("refused")
                writer.array(refused) { writer, item in
                    writer.object { writer in
                        writer.member("line", Int64(item.line))
                        writer.member("reason", item.reason)
                    }
                }
            }
        }
    }

    private func take(_ line: LineSplitter.Line, number: Int) {
        guard failure == nil else { return }
        switch line {
        case .tooLong:
            refuse(number, "the line has more than \(api.settings.limits.line) bytes")
        case .whole(let bytes):
            // Blank lines separate nothing and hide nothing.
            guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
            do throws(BodyError) {
                waiting.append(try DeviceFields.readLine(bytes, in: 0..<bytes.count, app: app))
            } catch {
                return refuse(number, error.description)
            }
            if waiting.count >= Self.batch { store() }
        }
    }

    private func refuse(_ number: Int, _ reason: String) {
        refusedCount += 1
        guard refused.count < api.settings.limits.refusedLines else { return }
        let isLong = reason.count > Self.longestReason
        refused.append((number, isLong ? reason.prefix(Self.longestReason) + "…" : reason))
    }

    private func store() {
        guard failure == nil, !waiting.isEmpty else { return }
        do {
            try api.store.register(waiting, at: api.now())
            stored += Int64(waiting.count)
        } catch {
            failure = api.problem(error, at: .importDevices(app))
        }
        waiting.removeAll(keepingCapacity: true)
    }
}
