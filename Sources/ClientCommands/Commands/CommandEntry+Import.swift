// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import WireFormat

extension CommandEntry {
    static let devicesImport = client(
        ["devices", "import"], "Registers devices from a file",
        discussion: """
            The file is CSV with a header line (RFC 4180) or NDJSON, whichever its first line is; the columns are \
            \(DeviceLine.columns.map(\.rawValue).joined(separator: ", ")). What is empty \
            (null) is forgotten, what the file has no column for stays as it is; environment defaults to production.

            A line that says what is known already changes nothing. A token that the push service has declared dead \
            stays dead unless registeredAt says that it was registered after that.

            A line that is refused is told with its number and the reason, and keeps no other line out; the exit code is \
            1 then.
            """,
        positionals: [PositionalSpec("FILE", "the file, or - for standard input")],
        options: [
            .value("app", "APP", "the app of lines that name none"),
            .value("platform", "PLATFORM", "the platform of lines that name none: ios or android"),
        ],
        examples: [
            "upgrade-relay devices import devices.csv",
            "generate | upgrade-relay devices import - --app com.example.app --platform ios",
        ]
    ) { run in
        let arguments = run.arguments
        var reader = DeviceReader(
            app: arguments.value("app"), platform: try arguments.value("platform").map(AppArguments.platform))
        let input = try InputFile(arguments.require("FILE"))
        var upload = DeviceUpload(try run.client())
        let display = run.progress("importing", total: input.size, unit: .bytes)
        // Told at once where a person reads, so that a file of nothing but faults fills no memory; an object has an end.
        var refused: [JSONValue] = []
        func tellRefused() {
            let lines = upload.takeRefused()
            if run.connection.isJSON {
                refused += lines.map { ["line": .integer($0.line), "reason": .string($0.reason)] }
            } else if !lines.isEmpty {
                display.interrupt(lines.map { "line \($0.line): \(DisplayWidth.sanitised($0.reason))\n" }.joined())
            }
        }
        do {
            while true {
                let bytes = try input.read()
                var items: [DeviceReader.Item] = []
                if bytes.isEmpty {
                    try reader.finish { items.append($0) }
                } else {
                    try reader.feed(bytes) { items.append($0) }
                }
                try await upload.add(items)
                tellRefused()
                if bytes.isEmpty { break }
                // All read is not all stored: the end is told by `finish`.
                if input.consumed == input.size { continue }
                display.update(done: input.consumed, note: "\(Quantity.count(upload.tally.stored)) devices stored")
            }
            try await upload.finish()
            tellRefused()
            display.finish(done: input.consumed, note: "\(Quantity.count(upload.tally.stored)) devices stored")
        } catch var failure as CommandFailure {
            try? await upload.settle()
            tellRefused()
            display.finish()
            if upload.tally.stored > 0 {
                failure.message += "\n\(Quantity.count(upload.tally.stored)) devices were stored before that"
            }
            throw failure
        }
        let tally = upload.tally
        run.show(
            [
                "stored": .integer(tally.stored), "refusedCount": .integer(tally.refusedCount),
                "refused": .array(refused),
            ], "\(Quantity.count(tally.stored)) stored, \(Quantity.count(tally.refusedCount)) refused\n")
        return tally.refusedCount == 0 ? .done : .failed
    }
}
