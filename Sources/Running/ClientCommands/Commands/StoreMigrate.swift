// SPDX-License-Identifier: Apache-2.0
import Configuration
import RelayStore
import StoreDrivers
import Terminal
import WireFormat

extension CommandEntry {
    static let storeMigrate = client("store migrate") { run in
        let file = try run.arguments.require("from")
        let configuration = try run.connection.configurationFile(run.context).load().store
        var display: ProgressDisplay?
        var done: Int64 = 0
        let start = ContinuousClock.now
        do {
            let tables = try StoreDriver.migrate(
                from: file, to: configuration, environment: run.context.environment, release: CommandLineTool.version
            ) { rows, total in
                display = display ?? run.progress("moving", total: total)
                done = rows
                display?.update(done: rows)
                return true
            }
            display?.finish(done: done)
            let place = configuration.place
            run.show(
                [
                    "from": .string(file), "to": .string(place), "rows": .integer(done),
                    "tables": .object(tables.map { JSONMember(name: $0.table, value: .integer($0.rows)) }),
                ],
                text(tables, place, done, ContinuousClock.now - start))
            return .done
        } catch let error as StoreError {
            throw CommandFailure(.failed, error.context, hint: error.hint)
        }
    }

    private static func text(
        _ tables: [(table: String, rows: Int64)], _ place: String, _ rows: Int64, _ time: Duration
    ) -> String {
        let lines = tables.filter { $0.rows > 0 }.map { ($0.table, Quantity.count($0.rows)) }
        return
            "\(DisplayWidth.sanitised(place)): \(Quantity.count(rows)) rows in \(DurationText.elapsed(time)), looked through\n\n"
            + TextTable.fields(lines)
    }
}
