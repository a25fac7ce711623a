// SPDX-License-Identifier: Apache-2.0
import Configuration
import PushSimulator
import Signing
package import Terminal

extension CommandEntry {
    package static let simulateAPNs = CommandEntry("simulate-apns") { arguments, context in
        try await simulate(SimulatorOptions(apns: arguments), arguments, context)
    }
}

extension SimulatorOptions {
    /// `simulate-apns`: reads the files that the options name, and writes a new key where `--write-key` asks for it.
    init(apns arguments: ParsedArguments) throws {
        var team = APNsTeam(
            topics: Set(arguments.values("topic")), teamID: try arguments.require("team-id"),
            keys: [try arguments.require("key-id"): try Self.publicKey(arguments)])
        team.world = try arguments.parsed(
            "client-environment", else: "is neither production nor sandbox", APNsWorld.init(rawValue:))
        var configuration = SimulatorConfiguration(.apns(team))
        if let path = arguments.value("client-ca") {
            configuration.clientAuthorities = try Self.contents(path, option: "client-ca")
        }
        try self.init(configuration, arguments, port: 2197)
    }

    private static func publicKey(_ arguments: ParsedArguments) throws -> ES256PublicKey {
        let given = ["public-key", "key", "write-key"].filter { arguments.value($0) != nil }
        guard given.count == 1, let option = given.first, let path = arguments.value(option) else {
            throw UsageError("one of --public-key, --key and --write-key is needed")
        }
        if option == "write-key" {
            let key = try ES256PrivateKey.generate()
            try PrivateFile.write(key.pem, to: path)
            return key.publicKey
        }
        let pem = try contents(path, option: option)
        do {
            return option == "key" ? try ES256PrivateKey(pem: pem).publicKey : try ES256PublicKey(pem: pem)
        } catch {
            throw CommandFailure(.failed, "--\(option): \(path) is not such a key: \(error)")
        }
    }
}
