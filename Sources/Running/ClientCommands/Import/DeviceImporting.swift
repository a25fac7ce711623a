// SPDX-License-Identifier: Apache-2.0
import Glibc
import Terminal
import Threading

/// One import of a file: reads it, sends its devices to the relay, and reports to the user.
struct DeviceImporting {
    private let run: ClientRun
    private let input: InputFile
    private let rejects: RejectsFile?
    private let isDryRun: Bool
    private let display: ProgressDisplay
    private var reader: DeviceReader
    private var upload: DeviceUpload
    private var report = ImportReport()
    private var warnings: [String] = []

    /// - Parameter client: nil: a client of the daemon that the command line names.
    init(_ run: ClientRun, client: RelayClient? = nil) throws {
        let arguments = run.arguments
        self.run = run
        isDryRun = arguments.flag("dry-run")
        let platform = try arguments.value("platform").map(AppArguments.platform)
        input = try InputFile(arguments.require("FILE"))
        upload = DeviceUpload(try client ?? run.client(), isDryRun: isDryRun)
        rejects = try arguments.value("rejects").map { [input] in try RejectsFile($0, input: input) }
        reader = DeviceReader(
            app: arguments.value("app"), platform: platform, isStrict: arguments.flag("strict"),
            keepsRaw: rejects != nil)
        display = run.progress("importing", total: input.size, unit: .bytes)
    }

    mutating func finish(isInterrupted: () -> Bool) async throws -> ExitCode {
        do {
            try await sendAll(isInterrupted)
        } catch var failure as CommandFailure {
            try? await upload.settle()
            try? showNewDoubts()
            // The request that was in flight is settled, so the bar's last number matches the summary.
            display.finish(done: input.consumed, note: note)
            _ = try? rejects?.finish()
            if let reached { failure.message += "\n\(reached)" }
            throw failure
        }
        let tally = upload.tally
        warn(ImportReport.warning(reader.doubts, isStrict: reader.isStrict))
        let kept = try rejects?.finish() == true
        run.show(
            report.json(tally, warnings: warnings, isDryRun: isDryRun),
            ImportReport.summary(tally, isDryRun: isDryRun) + report.reasonsText(refused: tally.refusedCount)
                + (kept
                    ? "the refused lines are in \(DisplayWidth.sanitised(run.arguments.value("rejects") ?? ""))\n" : "")
        )
        return tally.refusedCount == 0 ? .done : .failed
    }

    private mutating func sendAll(_ isInterrupted: () -> Bool) async throws {
        while true {
            let bytes = try input.read(unless: isInterrupted)
            if isInterrupted() { throw CommandFailure(.failed, "interrupted") }
            var items: [DeviceReader.Item] = []
            if bytes.isEmpty {
                try reader.finish { items.append($0) }
            } else {
                try reader.feed(bytes) { items.append($0) }
            }
            warn(reader.takeWarnings())
            try await upload.add(items)
            try showNewDoubts()
            if bytes.isEmpty { break }
            // All is read, but not all is stored: the display ends after `upload.finish`.
            if input.consumed == input.size { continue }
            display.update(done: input.consumed, note: note)
        }
        try await upload.finish()
        try showNewDoubts()
        display.finish(done: input.consumed, note: note)
    }

    private var note: String {
        "\(Quantity.count(upload.tally.stored)) devices \(isDryRun ? "looked at" : "stored")"
    }

    /// The progress of an import that ends early; nil before line 2 is settled.
    private var reached: String? {
        guard upload.settledLine > 1 else { return nil }
        let lines = "all up to line \(Quantity.count(upload.settledLine)) are done"
        return "\(lines): \(ImportReport.summary(upload.tally, isDryRun: isDryRun))"
            + "importing the whole file again does no harm"
    }

    private mutating func showNewDoubts() throws {
        let lines = upload.takeRefused()
        let shown = report.examples.count
        report.add(lines)
        try rejects?.append(lines, after: reader.preamble)
        guard !run.connection.isJSON, report.examples.count > shown else { return }
        display.interrupt(ImportReport.text(Array(report.examples[shown...])))
    }

    private mutating func warn(_ texts: [String]) {
        warnings += texts
        guard !run.connection.isJSON, !texts.isEmpty else { return }
        display.interrupt(texts.map { "warning: \($0)\n" }.joined())
    }
}

/// A file or standard input, read piece by piece.
final class InputFile {
    private static let piece = 256 * 1024

    /// In bytes; nil where it is not a regular file.
    let size: Int64?
    private(set) var consumed: Int64 = 0
    let descriptor: CInt
    private let name: String

    /// - Parameter path: a path, or "-" for standard input.
    /// - Throws: `CommandFailure` where it cannot be opened.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0 else {
            throw CommandFailure(.failed, "\(path) cannot be read: \(SystemError.text(errno))")
        }
        if status.st_mode & S_IFMT == S_IFDIR { throw CommandFailure(.failed, "\(path) is a directory") }
        size = status.st_mode & S_IFMT == S_IFREG ? Int64(status.st_size) : nil
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// The next piece; empty at the end. For a pipe it is also empty once `isInterrupted` returns true.
    func read(unless isInterrupted: () -> Bool = { false }) throws -> [UInt8] {
        while true {
            if size == nil {
                var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                while unsafe poll(&wanted, 1, 200) == 0 { if isInterrupted() { return [] } }
            }
            var failure: CInt = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.piece) { buffer, count in
                let result = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == 0 else {
                throw CommandFailure(.failed, "\(name) cannot be read: \(SystemError.text(failure))")
            }
            consumed += Int64(bytes.count)
            return bytes
        }
    }
}
