// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import PushSimulator
import Terminal
import WireFormat

/// The key file of the account that `simulate-fcm` answers to: `--account`.
enum FCMAccount {
    /// The project of the file, or a new one where there is no file.
    static func project(_ arguments: ParsedArguments) throws -> FCMProject {
        let path = try arguments.require("account")
        let name = arguments.value("project")
        if let name, !isProjectID(name) {
            throw UsageError(
                "--project: \"\(name)\" is no project id; it has 4 to 63 lower-case letters, digits and hyphens")
        }
        guard exists(path) else {
            return try name.map { try FCMProject(projectID: $0) } ?? FCMProject()
        }
        let bytes = try SimulatorOptions.contents(path, option: "account")
        let project: FCMProject
        do {
            project = try FCMProject(keyFile: bytes)
        } catch {
            throw CommandFailure(.failed, "--account: \(path) is no key file of a service account: \(error)")
        }
        if let name, name != project.projectID {
            throw UsageError("--project: \(path) is of the project \(project.projectID)")
        }
        return project
    }

    /// Writes the file where there is none. A file that exists must lead to this simulator: a real account is never simulated.
    static func furnish(_ path: String, for simulator: PushSimulator) throws {
        guard let file = simulator.accountFile else { return }
        guard exists(path) else { return try PrivateFile.write(file, to: path) }
        let own = tokenURL(file)
        let found = tokenURL(try SimulatorOptions.contents(path, option: "account"))
        guard own == found else {
            throw CommandFailure(
                .failed,
                "--account: the token_uri of \(path) is \(found ?? "missing"), and this simulator's is \(own ?? ""); give --listen "
                    + "that port, or another file")
        }
    }

    /// Whether the file exists, as far as this user may see.
    private static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    private static func tokenURL(_ file: [UInt8]) -> String? { (try? JSONReader.read(file))?["token_uri"]?.string }

    /// The id becomes a part of an address's path, and of a JSON text.
    private static func isProjectID(_ name: String) -> Bool {
        (4...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}
