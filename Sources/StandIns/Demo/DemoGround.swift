// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import PushSimulator
import Signing
import Terminal
import Threading
import WireFormat

/// The demo's temporary directory, with everything that the daemons need.
struct DemoGround: Sendable {
    let directory: String
    /// One place for each relay.
    let places: [DemoRelays.Place]
    /// The webhook's secret, without "whsec_" and decoded.
    let webhookKey: [UInt8]

    var databasePath: String { "\(directory)/relay.db" }
    private var secretPath: String { "\(directory)/webhook-secret" }

    init(environment: [String: String], relays: Int = 1) throws {
        let parent = environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent)/upgrade-relay-demo.XXXXXX".utf8CString)
        // mkdtemp makes the directory accessible to its owner alone (mode 0700).
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else {
            throw CommandFailure(
                .failed, "no temporary directory in \(parent): \(unsafe String(cString: strerror(errno)))")
        }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = directory
        places = try (0..<relays).map { try DemoRelays.Place($0, in: folder) }
        webhookKey = try RandomBytes.make(32)
    }

    /// Writes keys, secret, authorities and configuration.
    ///
    /// - Parameters:
    ///   - store: the configuration's `store`, given a relay's name.
    ///   - ratePerSecond: the pace of a platform's campaign; nil: none.
    func furnish(
        _ simulators: [(platform: DemoPlatform, service: any DemoService, simulator: PushSimulator)],
        store: (_ node: String?) -> JSONValue, ratePerSecond: Int? = nil
    ) throws {
        try PrivateFile.write(Array("\(WebhookSecret.text(webhookKey))\n".utf8), to: secretPath)
        let app = JSONValue.object(
            try simulators.map { platform, service, simulator in
                let authority = "\(directory)/\(platform.rawValue)-ca.pem"
                try PrivateFile.write(simulator.trustedCertificate ?? [], to: authority)
                let account = try service.furnish(directory, for: simulator)
                let place = [
                    JSONMember(name: "server", value: .string("https://127.0.0.1:\(simulator.port)")),
                    JSONMember(name: "trustedCertificates", value: .string(authority)),
                ]
                let pace = ratePerSecond.map { JSONMember(name: "pace", value: ["ratePerSecond": .integer($0)]) }
                let settings = [
                    JSONMember(name: "downloadUrl", value: .string(platform.downloadURL)),
                    JSONMember(name: "push", value: ["type": .string("mddy_needUpgrade")]),
                    JSONMember(name: platform.service.field, value: .object(account + place)), pace,
                ]
                return JSONMember(name: platform.rawValue, value: .object(settings.compactMap(\.self)))
            })
        for place in places {
            let configuration: JSONValue = [
                "store": store(places.count > 1 ? place.name : nil),
                "listen": ["address": .string("\(place.address)"), "controlSocket": .string(place.controlSocket)],
                "webhooks": ["secrets": .array([["file": .string(secretPath)]])],
                "apps": [DemoPopulation.app: app, DemoPopulation.otherApp: app],
            ]
            try PrivateFile.write(configuration.bytes(isPretty: true), to: place.configurationPath)
        }
    }

    func remove() { Folder.remove(directory) }

    /// The last lines of each relay's log, for an error.
    func logEnd(lines count: Int) -> String {
        let ends = places.compactMap { place -> String? in
            guard let bytes = try? FileProbe.read(place.logPath, limit: 64 << 20) else { return nil }
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
            return lines.suffix(count).map { DisplayWidth.sanitised(String($0)) }.joined(separator: "\n")
        }
        return ends.joined(separator: "\n\n")
    }
}
