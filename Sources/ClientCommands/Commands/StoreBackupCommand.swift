// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import RelayStore
import RelayStoreSQLite
import Synchronization
import Terminal

struct StoreBackupCommand: Command {
    static let spec = CommandSpec(
        path: ["store", "backup"],
        purpose: "Copies the store to a file while the daemon works on it",
        discussion:
            "The daemon makes the copy and sends it; this command writes FILE, for its user alone, and gives it its name when all of it is on the disk. Campaigns go on meanwhile. Where no daemon runs, the store's file is copied. To restore: stop the daemon, put the copy in the store's place, start it.",
        positionals: [PositionalSpec("FILE", "the file to make")],
        options: [.flag("force", "replace the file if it is there")] + ConnectionOptions.specs,
        examples: ["upgrade-relay store backup /var/backups/relay.db --force"],
        exitCodes: ConnectionOptions.exitCodes + [.configuration])

    private let connection: ConnectionOptions
    private let configPath: String?
    private let path: String
    private let replaces: Bool

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        configPath = arguments.value("config")
        path = try arguments.require("FILE")
        replaces = arguments.flag("force")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let work = try BackupWork(
            file: BackupFile(path, replaces: replaces), console: context.console,
            isQuiet: connection.isQuiet || connection.isJSON)
        do {
            try await work.fetch(connection.client(context))
        } catch let error as CommandFailure
            where error.code == .unreachable && connection.address == nil && !work.hasBegun
        {
            let file = ConfigurationFile.located(option: configPath, environment: context.environment)
            try work.copy(file.load().store.sqlitePath)
        }
        let size = work.size
        if connection.isJSON {
            let json = JSONTree.object(["file": .string(path), "size": .integer(size)])
            context.console.writeLine(try RelayClient.text(json))
        } else {
            context.console.writeLine("\(DisplayWidth.sanitised(path)): \(Quantity.bytes(size))")
        }
        return .done
    }
}

/// One backup on its way into its file. The network's thread feeds it, one piece after another.
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
    private let console: Console
    private let isQuiet: Bool

    init(file: sending BackupFile, console: Console, isQuiet: Bool) {
        (path, partial, replaces) = (file.path, file.partial, file.replaces)
        state = Mutex(State(file: file))
        self.console = console
        self.isQuiet = isQuiet
    }

    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    var size: Int64 { state.withLock { $0.size } }

    func fetch(_ client: RelayClient) async throws {
        var request = APIRequest("GET", "/v1/store/backup")
        request.accept = "application/vnd.upgrade-relay.backup"
        let answer = try await client.transport.pieces(request) { piece in
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
                let display = state.copying ?? display("copying", total)
                state.copying = display
                display.update(done: done)
                if done == total { display.finish(done: done) }
            case .size(let size):
                state.size = size
                try state.file.create()
                state.receiving = display("writing", size)
            case .data(let bytes):
                try state.file.append(bytes)
                state.received += Int64(bytes.count)
                state.receiving?.update(done: state.received)
            }
        }
    }

    /// Without a daemon.
    func copy(_ store: String) throws {
        let display = display("copying", nil)
        var size: Int64 = 0
        do {
            try SQLiteStore.backUp(file: store, to: partial) { progress in
                size = progress.total
                display.update(done: progress.done)
                return true
            }
        } catch {
            throw CommandFailure(.failed, "\(error)")
        }
        display.finish(done: size)
        try BackupFile.publish(partial, as: path, replaces: replaces)
        state.withLock { $0.size = size }
    }

    private func display(_ label: String, _ total: Int64?) -> ProgressDisplay {
        ProgressDisplay(console, label: label, total: total, unit: .bytes, isQuiet: isQuiet)
    }
}
