// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import Signing

// Threads that dial are not waited for at the end.
CryptoLibrary.keepUntilTheEnd()
signal(SIGPIPE, SIG_IGN)

func bench(_ options: BenchOptions) throws {
    var report = BenchReport()
    func runs(_ suite: String) -> Bool { options.only.contains(suite) }
    if runs("transport") {
        let (rows, allocations) = try TransportBench(options: options).run()
        report.add("transport", "Transport alone, one connection", rows)
        try TransportBench.check(allocations)
    }
    let daemon = DaemonBench(options: options)
    var imports: [BenchReport.Row] = []
    if runs("whole") {
        let rows = try options.all("devices").map { devices in
            let (filling, whole) = try daemon.whole(devices: devices)
            imports.append(filling)
            return whole
        }
        report.add("whole", "The whole way, by size of the audience", rows)
    }
    if runs("latency") {
        report.add("latency", "The service answers late", try daemon.late())
        report.add("connections", "Rate against connections, two seconds of a campaign", try daemon.sweep())
    }
    if runs("imports") { imports += try daemon.imports() }
    report.add("imports", "Imports", imports)
    if runs("restart") { report.add("restart", "Killed in the middle of a campaign", [try daemon.restart()]) }
    if runs("api") { report.add("api", "The API while a campaign runs", try APIBench(options: options).run()) }
    if let path = options.json { try report.json.write(to: URL(fileURLWithPath: path)) }
}

do {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == "send" {
        FileHandle.standardOutput.write(try JSONEncoder().encode(Sender(words.dropFirst()).run()))
    } else if words.contains("--help") || words.contains("-h") {
        print(BenchOptions.help)
    } else {
        try bench(BenchOptions(words))
    }
} catch {
    FileHandle.standardError.write(Data("relay-bench: \(error)\n".utf8))
    exit(1)
}
