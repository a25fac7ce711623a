// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import Terminal
import Testing

@testable import Demo

@Suite struct SimulatorOptionsTests {
    private func read(faults: String) throws -> SimulatorOptions {
        let folder = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = folder.appending(path: "faults.json5")
        try Data(faults.utf8).write(to: script)
        let words = [
            "--topic", "a", "--team-id", "TEAM123456", "--key-id", "KEY1234567",
            "--write-key", folder.appending(path: "key.p8").path, "--faults", script.path,
        ]
        return try SimulatorOptions(apns: ArgumentParser(CommandEntry.simulateAPNs.spec).parse(words))
    }

    @Test func `Each push service's simulator has a command`() {
        let names = ServiceKind.all.map { "simulate-\($0.name.lowercased())" }
        #expect(CommandEntry.simulators.map(\.spec.name) == names)
    }

    @Test func `A script of faults is read`() throws {
        let options = try read(faults: "{ deadShare: 0.25, busyTries: 3 } // JSON5")
        #expect(options.configuration.faults.deadShare == 0.25)
        #expect(options.configuration.faults.busyTries == 3)
    }

    /// Foundation's reader ends the process at the first of them.
    @Test(arguments: [
        ("{ busyTries: 0X0X }", "not JSON5: line 1, column 14: 0X0X is not a value"),
        ("{ busyTries 1 }", "not JSON5: line 1, column 13: a colon is needed"),
        ("{ busyTries: \"x\" }", "busyTries: "),
    ])
    func `A script that cannot be read is a failure with its place`(faults: String, message: String) throws {
        let failure = #expect(throws: CommandFailure.self) { _ = try read(faults: faults) }
        #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
    }
}
