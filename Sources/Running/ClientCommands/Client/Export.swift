// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Terminal
import Threading
import WireFormat

/// Streams a list from the daemon to standard output or into a file; never more than a piece of it is in memory. A file
/// appears whole or not at all.
final class Export: Sendable {
    enum Form: String {
        case csv
        case ndjson

        var contentType: String { self == .csv ? "text/csv" : "application/x-ndjson" }
    }

    /// The number of bytes that are gathered before they are written.
    private static let piece = 65_536

    private struct State {
        var file: BackupFile?
        var bytes: [UInt8] = []
        /// Line ends received, without the header's.
        var lines: Int64 = 0
        var hasBegun = false
        /// Whether the header of a list after the first is being skipped.
        var isInHeader = false
    }

    private let form: Form
    private let run: ClientRun
    private let state: Mutex<State>
    /// nil: the list goes to standard output, where progress would stand between its lines.
    private let display: ProgressDisplay?
    private let interruption = CancellationFlag()
    private let watcher: Task<Void, Never>?

    /// Checks the destination before the daemon is asked for anything.
    ///
    /// - Parameter usual: the form when no option names one; nil: without an option nothing is exported.
    /// - Returns: nil where no export is asked for.
    static func asked(_ run: ClientRun, usual: Form?) throws -> Export? {
        let (isCSV, isNDJSON) = (run.arguments.flag("csv"), run.arguments.flag("ndjson"))
        if isCSV, isNDJSON { throw UsageError("--csv and --ndjson exclude each other") }
        if run.connection.isJSON, isCSV || isNDJSON && usual == nil {
            throw UsageError("--\(isCSV ? "csv" : "ndjson") and --json exclude each other")
        }
        // Earlier releases needed this option; now every CSV is fit for a spreadsheet.
        if run.arguments.flag("for-spreadsheet"), !isCSV { throw UsageError("--for-spreadsheet goes with --csv") }
        let path = run.arguments.value("output")
        if run.arguments.flag("force"), path == nil { throw UsageError("--force goes with --output") }
        guard let form = isCSV ? .csv : isNDJSON ? .ndjson : usual else {
            if path != nil { throw UsageError("--output goes with --csv or --ndjson") }
            return nil
        }
        guard let path else { return Export(form, nil, run) }
        let file = try BackupFile(path, replaces: run.arguments.flag("force"))
        try file.create()
        return Export(form, file, run)
    }

    private init(_ form: Form, _ file: sending BackupFile?, _ run: ClientRun) {
        self.form = form
        self.run = run
        display = file == nil ? nil : run.progress("exporting")
        watcher =
            file == nil ? nil : Task { [interruption] in if await Interruption.wait() != nil { interruption.set() } }
        state = Mutex(State(file: file))
    }

    deinit {
        watcher?.cancel()
    }

    /// Streams one whole list. Several lists may follow each other under one header. If a list breaks off, the whole lines
    /// that arrived are still written.
    func take(_ parts: [String], query: [(String, String?)] = []) async throws {
        state.withLock { $0.isInHeader = form == .csv && $0.hasBegun }
        let request = APIRequest("GET", parts, query: query, accept: form.contentType)
        do {
            let answer = try await run.client().transport.pieces(request) { [self] piece in
                if interruption.isSet { throw CommandFailure(.failed, "interrupted; no file was made") }
                try add(piece)
                return true
            }
            guard answer.isSuccess else { throw Problem(answer).failure }
            if let similar = answer.headers["x-similar-telephones"] {
                run.console.writeError(UserText.known(as: similar) + "\n")
            }
        } catch let failure as CommandFailure {
            try flush()
            guard failure.code == .unreachable, hasBegun else { throw failure }
            // The daemon was reachable: it began to answer.
            throw brokenOff(": \(failure.message.replacing("the daemon is not reachable: ", with: ""))")
        }
        // A whole list ends with a line end.
        let isWhole = state.withLock { $0.bytes.last.map { $0 == 0x0A } ?? true }
        guard isWhole else {
            try flush()
            throw brokenOff(" and within a line")
        }
    }

    private var hasBegun: Bool { state.withLock { $0.hasBegun } }

    private func brokenOff(_ how: String) -> CommandFailure {
        let (lines, isFile) = state.withLock { (max($0.lines, 0), $0.file != nil) }
        return CommandFailure(
            .failed, "the list broke off after \(Quantity.count(lines, "line"))\(how)",
            hint: isFile ? "no file was made; try again" : "what was written is not all of it; try again")
    }

    private func add(_ piece: [UInt8]) throws {
        try state.withLock { state in
            guard !piece.isEmpty else { return }
            var rest = piece[...]
            if state.isInHeader {
                guard let end = rest.firstIndex(of: 0x0A) else { return }
                rest = rest[(end + 1)...]
                state.isInHeader = false
            }
            // The header does not count as a line of the list.
            if !state.hasBegun, form == .csv { state.lines = -1 }
            state.hasBegun = true
            state.lines += Int64(rest.count { $0 == 0x0A })
            state.bytes += rest
            if state.bytes.count >= Self.piece { try write(&state) }
        }
        display?.update(done: state.withLock { max($0.lines, 0) })
    }

    /// Writes the whole lines received so far; an incomplete last line stays in `bytes`.
    private func write(_ state: inout State) throws {
        guard let end = state.bytes.lastIndex(of: 0x0A) else { return }
        let lines = Array(state.bytes[...end])
        state.bytes.removeSubrange(...end)
        if let file = state.file {
            try file.append(lines)
        } else {
            run.console.write(form == .csv ? String(decoding: lines, as: UTF8.self) : JSONText.shown(lines))
        }
    }

    private func flush() throws {
        try state.withLock { state in try write(&state) }
    }

    /// Writes the rest; gives a file its name and reports it.
    func finish() throws {
        try flush()
        let (path, lines) = try state.withLock { state -> (String?, Int64) in
            try state.file?.finish()
            return (state.file?.path, max(state.lines, 0))
        }
        guard let path else { return }
        display?.finish(done: lines)
        run.show(
            ["file": .string(path), "lines": .integer(lines)],
            "\(DisplayWidth.sanitised(path)): \(Quantity.count(lines, "line"))\n")
    }
}
