// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayStore
import Requirements
import WireFormat

/// Many devices as NDJSON, stored while the rest of the body is still arriving. A refused line does not affect other lines;
/// the answer has its number and reason.
final class DeviceImport: BodyConsumer {
    /// The most characters of one reason: a line with many faults must not fill the answer.
    private static let longestReason = 400

    private let api: API
    private let app: AppKey
    /// The route's pattern, for the log.
    private let pattern: String
    private var lines: LineSplitter
    private let storage: DeviceStorage
    private var refused: [RefusedLine] = []
    private var refusedCount: Int64 = 0

    /// - Parameter isDryRun: whether the outcome is reported without storing the devices.
    init(api: API, app: AppKey, pattern: String, isDryRun: Bool) {
        self.api = api
        self.app = app
        self.pattern = pattern
        lines = LineSplitter(limit: api.settings.limits.line)
        storage = DeviceStorage(of: app, into: api.store, api.imports, isDryRun: isDryRun, now: api.now)
    }

    func consume(_ bytes: [UInt8]) {
        // After a failure the rest is read and dropped: most HTTP/1.1 clients read no answer before they have sent the body.
        guard storage.failure == nil else { return }
        lines.feed(bytes) { take($0, $1, number: $2) }
        storage.storeIfIdle()
    }

    func finish() -> Response {
        if storage.failure == nil { lines.finish { take($0, $1, number: $2) } }
        storage.storeBatch()
        storage.settle()
        let counts = storage.counts
        if let error = storage.failure {
            var failure = api.problem(error, at: pattern)
            failure.detail += "; \(counts.devices) devices had been stored before, and sending all again does no harm"
            return failure.response
        }
        return .json { $0.object((counts: counts, refusedCount: refusedCount, refused: refused), Self.shape) }
    }

    private func take(_ bytes: [UInt8], _ range: Range<Int>?, number: Int) {
        guard let range else {
            return refuse(number, "the line has more than \(api.settings.limits.line) bytes")
        }
        if !DeviceFields.readPlain(bytes, in: range, into: &storage.batch) {
            // Blank lines are skipped.
            guard bytes[range].contains(where: { $0 != 0x20 && $0 != 0x09 }) else { return }
            do throws(BodyError) {
                storage.batch.append(try DeviceFields.readLine(bytes, in: range, app: app))
            } catch {
                return refuse(number, error.description)
            }
        }
        if storage.isFull { storage.storeBatch() }
    }

    private func refuse(_ number: Int, _ reason: String) {
        refusedCount += 1
        guard refused.count < api.settings.limits.refusedLines else { return }
        let isLong = reason.count > Self.longestReason
        refused.append((number, isLong ? reason.prefix(Self.longestReason) + "…" : reason))
    }
}

extension DeviceImport {
    typealias RefusedLine = (line: Int, reason: String)

    static let shape = Shape<(counts: UpsertCounts, refusedCount: Int64, refused: [RefusedLine])>(
        "DeviceImportResult", "The result of an import.",
        [
            .member(.stored, .count, "new, updated and unchanged together.") { $0.counts.devices },
            .member(.new, .count) { $0.counts.inserted },
            .member(.updated, .count) { $0.counts.updated },
            .member(.unchanged, .count, "Lines that were known already: nothing was written.") { $0.counts.unchanged },
            .member(
                .versionsKept, .count,
                "Stored lines whose version was ignored: the device itself had reported a later one, which stays."
            ) { $0.counts.versionsKept },
            .member(.refusedCount, .count) { $0.refusedCount },
            .list(.refused, of: refusedShape, "The first ten thousand refused lines.") { $0.refused },
        ])

    static let refusedShape = Shape<RefusedLine>(
        "RefusedLine", "A line that was not stored.",
        [
            .member(.line, .count, "Counted from 1.") { $0.line },
            .member(.reason, .text) { $0.reason },
        ])
}
