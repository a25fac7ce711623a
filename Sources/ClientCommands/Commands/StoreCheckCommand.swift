// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import RelayAPI
import RelayStore
import RelayStoreSQLite
import Synchronization
import Terminal

struct StoreCheckCommand: Command {
    static let spec = CommandSpec(
        path: ["store", "check"],
        purpose: "Looks for damage, and for counts that do not add up",
        discussion:
            "Asks the daemon, whose work goes on meanwhile; where none runs, looks at the store's file. With FILE it looks at that one, a backup say. Changes nothing. Exit code 1 where something is wrong.",
        positionals: [PositionalSpec("FILE", "a store that no daemon has open", isRequired: false)],
        options: ConnectionOptions.specs,
        examples: ["upgrade-relay store check", "upgrade-relay store check /var/backups/relay.db"],
        exitCodes: ConnectionOptions.exitCodes + [.configuration])

    private let connection: ConnectionOptions
    private let configPath: String?
    private let path: String?

    init(_ arguments: ParsedArguments) throws {
        connection = try ConnectionOptions(arguments)
        configPath = arguments.value("config")
        path = arguments.positional("FILE")
    }

    func run(_ context: CommandContext) async throws -> ExitCode {
        let result: [UInt8]
        if let path {
            result = try look(at: path, context)
        } else {
            do {
                result = try await ask(context)
            } catch let error as CommandFailure where error.code == .unreachable && connection.address == nil {
                let file = ConfigurationFile.located(option: configPath, environment: context.environment)
                result = try look(at: file.load().store.sqlitePath, context)
            }
        }
        let reply = try RelayClient.reply(APIAnswer(status: 200, body: result))
        let faults = reply.tree["faults"]?.array ?? []
        if connection.isJSON {
            context.console.writeLine(reply.text)
        } else if faults.isEmpty {
            context.console.writeLine("the store is sound")
        } else {
            for fault in faults {
                context.console.writeLine("\(fault.shown("check")): \(fault.shown("detail"))")
            }
        }
        return faults.isEmpty ? .done : .failed
    }

    private func ask(_ context: CommandContext) async throws -> [UInt8] {
        let last = Mutex<[UInt8]>([])
        try await connection.client(context).lines("/v1/store/check", accept: "application/x-ndjson") { line in
            guard !line.isEmpty else { return true }
            let tree = try JSONDecoder().decode(JSONTree.self, from: Data(line))
            if let error = tree["error"]?.string {
                throw CommandFailure(.failed, "the check could not be made: \(DisplayWidth.sanitised(error))")
            }
            if let name = tree["begins"]?.string { begins(name, context.console) }
            if tree["faults"] != nil { last.withLock { $0 = line } }
            return true
        }
        let result = last.withLock { $0 }
        guard !result.isEmpty else { throw CommandFailure(.failed, "the daemon ended the check") }
        return result
    }

    private func look(at path: String, _ context: CommandContext) throws -> [UInt8] {
        do {
            let faults = try SQLiteStore.check(file: path) { name in
                begins(name, context.console)
                return true
            }
            return StoreDocument.json(of: faults)
        } catch let error as StoreError {
            throw CommandFailure(.failed, error.context, hint: error.hint)
        }
    }

    private func begins(_ name: String, _ console: Console) {
        if !connection.isQuiet, !connection.isJSON { console.writeError("\(DisplayWidth.sanitised(name)) …\n") }
    }
}
