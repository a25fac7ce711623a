// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTP2
import Signing

// Threads that dial are not waited for at the end.
CryptoLibrary.keepUntilTheEnd()
signal(SIGPIPE, SIG_IGN)

/// `send PORT AUTHORITY KEY PUSHES STREAMS`: the part of the transport's benchmark whose CPU is counted.
func send(_ words: [String]) throws {
    guard words.count == 5, let port = UInt16(words[0]), let pushes = Int(words[3]), let streams = Int(words[4]) else {
        throw BenchError("send wants: PORT AUTHORITY KEY PUSHES STREAMS")
    }
    let key = try ES256PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: words[2]))))
    let sender = Sender(
        origin: Origin(host: "127.0.0.1", port: port), trustedCertificates: words[1], key: key, pushes: pushes,
        streams: streams)
    FileHandle.standardOutput.write(try JSONEncoder().encode(sender.run()))
}

/// `load ORDER`: asks the API; see `LoadLoop`.
func load(_ words: [String]) throws {
    guard words.count == 1 else { throw BenchError("load wants: ORDER, as JSON") }
    var loop = LoadLoop(try JSONDecoder().decode(LoadLoop.Order.self, from: Data(words[0].utf8)))
    FileHandle.standardOutput.write(try JSONEncoder().encode(loop.run()))
}

/// At once, also into a pipe: a run takes minutes.
func tell(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

func bench(_ options: BenchOptions) throws {
    var report = BenchReport()
    if options.suites.contains(.transport) {
        report.transport = try TransportBench(options: options).run()
        tell(BenchReport.table(report.transport))
        try TransportBench.check(report.transport)
    }
    let daemon = DaemonBench(options: options)
    if options.suites.contains(.whole) {
        for devices in options.devices {
            let (whole, imports) = try daemon.whole(devices: devices)
            report.whole.append(whole)
            report.imports += imports
        }
        tell(BenchReport.table(report.whole))
    }
    if options.suites.contains(.latency) {
        report.latency = try daemon.late()
        tell(BenchReport.table(report.latency))
        report.connections = try daemon.sweep()
        tell(BenchReport.table(report.connections))
    }
    if options.suites.contains(.imports) { report.imports += try daemon.imports() }
    if !report.imports.isEmpty { tell(BenchReport.table(report.imports)) }
    if options.suites.contains(.restart) {
        let restart = try daemon.restart()
        report.restart = restart
        tell(BenchReport.table(restart))
    }
    if options.suites.contains(.api) {
        report.api = try APIBench(options: options).run()
        tell(BenchReport.table(report.api))
    }
    if let path = options.json { try report.json.write(to: URL(fileURLWithPath: path)) }
}

do {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.first == "send" {
        try send(Array(words.dropFirst()))
    } else if words.first == "load" {
        try load(Array(words.dropFirst()))
    } else if words.contains("--help") || words.contains("-h") {
        tell(BenchOptions.help)
    } else {
        try bench(BenchOptions(words))
    }
} catch {
    FileHandle.standardError.write(Data("relay-bench: \(error)\n".utf8))
    exit(1)
}
