// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import HTTPServer
import PushSimulator
import RelayEngine
import Signing
import Terminal
import WireFormat

/// The command line of `simulate-apns` and `simulate-fcm` as the simulator's configuration.
struct SimulatorOptions: Sendable {
    static let apnsSpecs: [OptionSpec] =
        [
            listen(port: 2197),
            OptionSpec.required("topic", "TOPIC", "a bundle id that pushes are taken for").repeatable(),
            .required("team-id", "ID", "the team that provider tokens must name"),
            .required("key-id", "ID", "the key that provider tokens must name"),
            .value("public-key", "FILE", "the public half of that key (PEM)"),
            .value("key", "FILE", "or the key itself: the .p8 file"),
            .value("write-key", "FILE", "or make a new key and write it here, for the relay to sign with"),
            .value(
                "client-ca", "FILE",
                "ask clients for a certificate of this authority (PEM), and judge it instead of a token"),
            .value(
                "client-environment", "NAME", "production or sandbox: what such a certificate must be for",
                default: "either"),
        ] + certificateSpecs + [
            .value("dead-share", "SHARE", "of the tokens: answered with 410 Unregistered", default: "0"),
            .value("bad-share", "SHARE", "of the tokens: answered with 400 BadDeviceToken", default: "0"),
            .value("busy-share", "SHARE", "of the tokens: first answered with 429 TooManyRequests", default: "0"),
        ] + commonSpecs(streams: 1000)

    static let fcmSpecs: [OptionSpec] =
        [
            listen(port: 2198),
            .required("account", "FILE", "its service account's key file; made where there is none"),
            .value("project", "ID", "the project of a new account", default: "upgrade-relay-demo"),
            .value("token-lifetime", "DURATION", "how long an access token lasts", default: "1h"),
        ] + certificateSpecs + [
            .value("dead-share", "SHARE", "of the tokens: answered with 404 UNREGISTERED", default: "0"),
            .value("bad-share", "SHARE", "of the tokens: answered with 400 INVALID_ARGUMENT", default: "0"),
            .value("busy-share", "SHARE", "of the tokens: first answered with 429 QUOTA_EXCEEDED", default: "0"),
            .value("quota", "N", "requests a minute; what comes beyond it is answered with 429"),
        ] + commonSpecs(streams: 100)

    private static func listen(port: Int) -> OptionSpec {
        .value(
            "listen", "ADDRESS", "an IP address and a port; port 0 takes a free one", default: "127.0.0.1:\(port)")
    }

    private static let certificateSpecs: [OptionSpec] = [
        .value("certificate", "FILE", "the server's certificate chain (PEM)", default: "made anew for this address"),
        .value("certificate-key", "FILE", "its key (PEM)"),
        .value("write-ca", "FILE", "where to write the new certificate's authority, for trustedCertificates"),
        .value("faults", "FILE", "a script of faults (JSON5); the options below override it"),
    ]

    private static func commonSpecs(streams: Int) -> [OptionSpec] {
        [
            .value("busy-tries", "N", "how many pushes to such a token are", default: "2"),
            .value("refuse-every", "N", "every n-th request is refused with REFUSED_STREAM"),
            .value("goaway-after", "N", "requests after which a connection gets GOAWAY"),
            .value("cut-after", "N", "requests after which a connection is cut"),
            .value("latency", "DURATION", "from request to answer, such as 20ms", default: "0"),
            .value("max-streams", "N", "streams at once on a connection", default: "\(streams)"),
            .value("record", "FILE", "append every accepted push as a line of JSON"),
            .flag("json", "print JSON lines instead of text for people"),
        ]
    }

    let configuration: SimulatorConfiguration
    let address: ListenAddress
    let authorityPath: String?

    /// `simulate-apns`: reads the files that the options name, and writes the new key where one is wanted.
    init(apns arguments: ParsedArguments) throws {
        var team = APNsTeam(
            topics: Set(arguments.values("topic")), teamID: try arguments.require("team-id"),
            keys: [try arguments.require("key-id"): try Self.publicKey(arguments)])
        if let text = arguments.value("client-environment") {
            guard let world = APNsWorld(rawValue: text) else {
                throw UsageError("--client-environment: \"\(text)\" is neither production nor sandbox")
            }
            team.world = world
        }
        var configuration = SimulatorConfiguration(.apns(team))
        if let path = arguments.value("client-ca") {
            configuration.clientAuthorities = try Self.contents(path, option: "client-ca")
        }
        try self.init(configuration, arguments, port: 2197)
    }

    /// `simulate-fcm`: reads the files that the options name. A new account is written once the port is known: `FCMAccount`.
    init(fcm arguments: ParsedArguments) throws {
        var project = try FCMAccount.project(arguments)
        if let text = arguments.value("token-lifetime") {
            guard let lifetime = DurationText.parse(text),
                lifetime >= .seconds(1), lifetime <= .seconds(86_400)
            else {
                throw UsageError("--token-lifetime: \"\(text)\" is not a duration from 1s to 24h, such as 1h")
            }
            project.tokenLifetime = lifetime.components.seconds
        }
        var configuration = SimulatorConfiguration(project)
        if let quota = try arguments.integer("quota", in: 0...1_000_000_000) {
            configuration.faults.quota = FaultScript.Quota(requests: quota)
        }
        try self.init(configuration, arguments, port: 2198)
    }

    private init(_ service: SimulatorConfiguration, _ arguments: ParsedArguments, port: UInt16) throws {
        let listen = arguments.value("listen") ?? "127.0.0.1:\(port)"
        guard let address = ListenAddress(listen) else {
            throw UsageError("--listen: \"\(listen)\" is not an IP address and a port, such as 127.0.0.1:\(port)")
        }
        self.address = address
        authorityPath = arguments.value("write-ca")
        var configuration = service
        configuration.address = address.host
        configuration.port = address.port
        switch (arguments.value("certificate"), arguments.value("certificate-key")) {
        case (let chain?, let key?): configuration.certificate = .files(chain: chain, key: key)
        case (nil, nil): break
        default: throw UsageError("--certificate and --certificate-key go together")
        }
        if authorityPath != nil, arguments.value("certificate") != nil {
            throw UsageError("--write-ca goes with a new certificate, not with --certificate")
        }
        var faults = try Self.faults(arguments)
        faults.quota = service.faults.quota ?? faults.quota
        configuration.faults = faults
        configuration.recordPath = arguments.value("record")
        configuration.maximumStreams = try arguments.integer(
            "max-streams", in: 1...100_000, default: service.maximumStreams)
        if let text = arguments.value("latency") {
            guard let latency = DurationText.parse(text) else {
                throw UsageError("--latency: \"\(text)\" is not a duration, such as 20ms or 1s")
            }
            configuration.latency = latency
        }
        self.configuration = configuration
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

    private static func faults(_ arguments: ParsedArguments) throws -> FaultScript {
        var script = FaultScript()
        if let path = arguments.value("faults") {
            let bytes = try contents(path, option: "faults")
            do {
                let json = try JSON5Reader.read(bytes).value
                script = try JSONDecoder().decode(FaultScript.self, from: Data(json.bytes()))
            } catch {
                throw CommandFailure(.failed, "--faults: \(path): \(reason(error))")
            }
        }
        script.deadShare = try arguments.share("dead-share", default: script.deadShare)
        script.badShare = try arguments.share("bad-share", default: script.badShare)
        script.busyShare = try arguments.share("busy-share", default: script.busyShare)
        script.busyTries = try arguments.integer("busy-tries", in: 1...100, default: script.busyTries)
        let counts = 1...1_000_000_000
        script.refuseEvery = try arguments.integer("refuse-every", in: counts) ?? script.refuseEvery
        script.goAwayAfter = try arguments.integer("goaway-after", in: counts) ?? script.goAwayAfter
        script.cutAfter = try arguments.integer("cut-after", in: counts) ?? script.cutAfter
        return script
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            place(context)
        case DecodingError.keyNotFound(let key, let context): "\(place(context)): \(key.stringValue) is missing"
        default: "\(error)"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        "\(context.codingPath.map(\.stringValue).joined(separator: ".")): \(context.debugDescription)"
    }

    static func contents(_ path: String, option: String) throws -> [UInt8] {
        do throws(FileProbe.Failure) {
            return try FileProbe.read(path, limit: 16 << 20)
        } catch {
            throw CommandFailure(.failed, "--\(option): the file \(path) \(error.problem)")
        }
    }
}
