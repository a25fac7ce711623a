// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Synchronization
import Terminal
import WireFormat

extension CommandEntry {
    static let storeBackup = client("store backup") { run in
        let path = try run.arguments.require("FILE")
        let work = BackupWork(file: try BackupFile(path, replaces: run.arguments.flag("force")), run)
        try await run.ask {
            try await work.fetch()
        } orStore: {
            try work.copy($0)
        } hasBegun: {
            work.hasBegun
        }
        run.show(
            ["file": .string(path), "size": .integer(work.size)],
            "\(DisplayWidth.sanitised(path)): \(Quantity.bytes(work.size))\n")
        return .done
    }
}

extension ClientRun {
    /// Shows the progress of a copy.
    ///
    /// - Returns: its size in bytes.
    func copying(_ work: ((BackupProgress) -> Bool) throws -> Void) throws -> Int64 {
        let display = progress("copying", unit: .bytes)
        var size: Int64 = 0
        try work { progress in
            size = progress.total
            display.update(done: progress.done)
            return true
        }
        display.finish(done: size)
        return size
    }
}

/// Writes one backup into its file. The network's thread feeds it, one piece after another.
private final class BackupWork: Sendable {
    private struct State {
        var reader = BackupReader()
        var file: BackupFile
        var hasBegun = false
        var size: Int64 = 0
        var received: Int64 = 0
        var copying: ProgressDisplay?
        var receiving: ProgressDisplay?
    }

    private let state: Mutex<State>
    private let path: String
    private let partial: String
    private let replaces: Bool
    private let run: ClientRun

    init(file: sending BackupFile, _ run: ClientRun) {
        (path, partial, replaces) = (file.path, file.partial, file.replaces)
        state = Mutex(State(file: file))
        self.run = run
    }

    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    var size: Int64 { state.withLock { $0.size } }

    func fetch() async throws {
        let request = APIRequest("GET", ["v1", "store", "backup"], accept: "application/vnd.upgrade-relay.backup")
        let answer = try await run.client().transport.pieces(request) { piece in
            try self.state.withLock { state in try self.take(piece, &state) }
            return true
        }
        guard answer.isSuccess else { throw Problem(answer).failure }
        try state.withLock { state in
            guard state.reader.isWhole else {
                throw CommandFailure(
                    .failed, "the backup was cut short; \(path) was not made", hint: "the daemon's log says why")
            }
            state.receiving?.finish(done: state.received)
            try state.file.finish()
        }
    }

    private func take(_ piece: [UInt8], _ state: inout State) throws {
        state.hasBegun = true
        for event in try state.reader.feed(piece) {
            switch event {
            case .progress(let done, let total):
                let display = state.copying ?? run.progress("copying", total: total, unit: .bytes)
                state.copying = display
                display.update(done: done)
                if done == total { display.finish(done: done) }
            case .size(let size):
                state.size = size
                try state.file.makeRoom(for: size)
                try state.file.create()
                state.receiving = run.progress("writing", total: size, unit: .bytes)
            case .data(let bytes):
                try state.file.append(bytes)
                state.received += Int64(bytes.count)
                state.receiving?.update(done: state.received)
            }
        }
    }

    /// Copies the store without a daemon.
    func copy(_ store: any ClosedStore) throws {
        let size: Int64
        do {
            size = try run.copying { try store.copy(to: partial, progress: $0) }
        } catch {
            throw CommandFailure(.failed, "\(error)")
        }
        try BackupFile.publish(partial, as: path, replaces: replaces)
        state.withLock { $0.size = size }
    }
}

/// Parses the daemon's backup: JSON lines with the progress of the copy, a line with its size, then the copy. Pure: bytes in,
/// events out.
struct BackupReader {
    enum Event: Equatable {
        case progress(done: Int64, total: Int64)
        case size(Int64)
        case data([UInt8])
    }

    private var line: [UInt8] = []
    /// The bytes of the copy still to come; nil while the JSON lines last.
    private(set) var left: Int64?

    /// Whether the whole copy has come.
    var isWhole: Bool { left == 0 }

    /// - Throws: `CommandFailure` with the daemon's error, or because this is no backup.
    mutating func feed(_ bytes: [UInt8]) throws -> [Event] {
        var events: [Event] = []
        var rest = bytes[...]
        while left == nil, let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            line += rest[..<end]
            rest = rest[(end + 1)...]
            defer { line.removeAll() }
            if let event = try event() { events.append(event) }
        }
        guard let left else {
            line += rest
            if line.count > 4096 { throw Self.notABackup }
            return events
        }
        guard Int64(rest.count) <= left else { throw Self.notABackup }
        self.left = left - Int64(rest.count)
        if !rest.isEmpty { events.append(.data(Array(rest))) }
        return events
    }

    private mutating func event() throws -> Event? {
        if line.isEmpty { return nil }
        guard let json = try? JSONReader.read(line) else { throw Self.notABackup }
        if let error = json[.error]?.string {
            throw CommandFailure(.failed, "the daemon could not make the backup: \(DisplayWidth.sanitised(error))")
        }
        if let done = json[.done]?.integer, let total = json[.total]?.integer {
            return .progress(done: done, total: total)
        }
        guard let size = json[.size]?.integer, size >= 0 else { throw Self.notABackup }
        left = size
        return .size(size)
    }

    private static let notABackup = CommandFailure(
        .failed, "the daemon's answer is not a backup", hint: "is it of the same release as this command?")
}
