// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTPServer
import PushSimulator
import Terminal
import WireFormat

/// The command line of a simulator, such as `simulate-apns`, as its configuration.
struct SimulatorOptions: Sendable {
    let configuration: SimulatorConfiguration
    let address: ListenAddress
    let authorityPath: String?

    /// `--listen`, by default this port of 127.0.0.1.
    static func address(_ arguments: ParsedArguments, port: UInt16) throws -> ListenAddress {
        let usual = ListenAddress(host: "127.0.0.1", port: port)
        return try arguments.parsed("listen", else: "is not an IP address and a port, such as \(usual)") {
            ListenAddress($0)
        } ?? usual
    }

    /// Reads the options that the commands of all services have.
    ///
    /// - Parameters:
    ///   - service: the configuration by the options of the service's own command.
    ///   - port: the port that it listens on by default.
    init(_ service: SimulatorConfiguration, _ arguments: ParsedArguments, port: UInt16) throws {
        address = try Self.address(arguments, port: port)
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
        configuration.latency =
            try arguments.duration("latency", in: Duration.zero..., else: "is not a duration, such as 20ms or 1s")
            ?? configuration.latency
        self.configuration = configuration
    }

    private static func faults(_ arguments: ParsedArguments) throws -> FaultScript {
        var script = FaultScript()
        if let path = arguments.value("faults") {
            let bytes = try contents(path, option: "faults")
            do {
                let json = try JSON5Reader.read(bytes).value
                script = try FaultScript(json: json.bytes())
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
