// SPDX-License-Identifier: Apache-2.0
import APIModel
import Terminal
import Threading

extension CommandEntry {
    static let devicesImport = client(
        ["devices", "import"], "Registers devices from a file",
        discussion: """
            The file is a table with a header line (RFC 4180; the delimiter is a comma, a semicolon or a tab, or what a line \
            "sep=" names) or NDJSON, whichever its first line is, in UTF-8 or UTF-16. The columns are \
            \(DeviceLine.columns.map(\.rawValue).joined(separator: ", ")); others are ignored. What is empty (null) is \
            forgotten, what the file has no column for stays as it is; environment defaults to production.

            A line that says what is known already changes nothing. A token that the push service has declared dead \
            stays dead unless registeredAt (RFC 3339) says that it was registered after that. deadSince is as "devices \
            export" writes it; a token that was registered later is alive all the same. seenAt is when the device was seen \
            with that version: what it told the relay later stays.

            A line that is refused keeps no other line out; the exit code is 1 then. The first \
            \(ImportReport.mostExamples) are told with their numbers, all of them are counted by reason, and --rejects \
            keeps them as they stood, to be mended and imported.
            """,
        positionals: [PositionalSpec("FILE", "the file, or - for standard input")],
        options: [
            .value("app", "APP", "the app of lines that name none"),
            .value("platform", "PLATFORM", "the platform of lines that name none: ios or android"),
            .flag("dry-run", "say what would become of the lines, and store nothing"),
            .value("rejects", "PATH", "where refused lines are written, as they stood behind the same header"),
            .flag(
                "strict",
                "refuse phone numbers that no app would ever equal (1.38E+10, NULL, padded, full-width, …) and tokens of "
                    + "odd length; without it they are reported"),
        ],
        examples: [
            "upgrade-relay devices import devices.csv",
            "upgrade-relay devices import devices.csv --dry-run --strict",
            "upgrade-relay devices import devices.csv --rejects rejects.csv",
            "generate | upgrade-relay devices import - --app com.example.app --platform ios",
        ]
    ) { run in
        let interruption = CancellationFlag()
        let watcher = Task { if await Interruption.wait() != nil { interruption.set() } }
        defer { watcher.cancel() }
        var importing = try DeviceImporting(run)
        return try await importing.finish { interruption.isSet }
    }
}
