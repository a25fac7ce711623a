// SPDX-License-Identifier: Apache-2.0
import Configuration
import Glibc
import Synchronization
package import Terminal
import Threading
import WireFormat

/// The options for reaching the daemon, shared by every command that uses its API.
package struct ConnectionOptions: Sendable {
    package static let specs = CommandSpec.options("connection")
    static let tokenVariable = "UPGRADE_RELAY_TOKEN"
    static let socketVariable = "UPGRADE_RELAY_SOCKET"

    /// Replaces the daemon's socket or address; for tests.
    @TaskLocal static var transport: (any APITransport)?

    let isJSON: Bool
    let isQuiet: Bool
    /// The daemon's HTTP address; nil: its control socket.
    let address: String?
    /// The value of `--token` where that is a device's token and not the API's.
    let deviceToken: String?
    /// How long to wait for the daemon's first answer; nil: one attempt.
    private let wait: Duration?
    /// The person for whom root acts at the socket; nil: the process acts for its own user.
    private let person: ActedFor?
    private let arguments: ParsedArguments
    /// The warning about an unusable configuration; written once, however many clients are made.
    private let warning = Warning()

    private final class Warning: Sendable {
        private let isWritten = Atomic(false)

        func isFirst() -> Bool { !isWritten.exchange(true, ordering: .relaxed) }
    }

    /// - Parameter tokenIsDevice: whether `--token` is a device's token; with `--url` it is always the API's.
    init(_ arguments: ParsedArguments, tokenIsDevice: Bool = false) throws {
        self.arguments = arguments
        isJSON = arguments.flag("json")
        isQuiet = arguments.flag("quiet")
        let token = arguments.value("token")
        address = arguments.value("url")
        if address != nil, arguments.value("socket") != nil {
            throw UsageError("--url and --socket exclude each other")
        }
        if let address, !address.hasPrefix("http://"), !address.hasPrefix("https://") {
            throw UsageError("--url: \"\(address)\" is not an HTTP address; one such as http://127.0.0.1:8480")
        }
        if address != nil, arguments.value("as") != nil {
            throw UsageError("--as goes with the control socket; with --url the API token is the name")
        }
        person = try ActedFor.find(named: arguments.value("as"), user: geteuid(), login: SystemUser.login)
        if arguments.value("ca") != nil, address?.hasPrefix("https://") != true {
            throw UsageError("--ca goes with --url https://…")
        }
        wait = try arguments.duration(
            "wait", in: .milliseconds(1)...(.seconds(3600)), else: "is not a time up to an hour; one such as 30s")
        let isDevice = tokenIsDevice && address == nil
        deviceToken = isDevice ? token : nil
        if token != nil, address == nil, !isDevice {
            throw UsageError("--token goes with --url; the control socket needs none")
        }
    }

    /// - Parameter isSilent: whether the warning about an unusable configuration is left out.
    func client(_ context: CommandContext, isSilent: Bool = false) throws -> RelayClient {
        let transport = try Self.transport ?? transport(context, isSilent)
        return RelayClient(wait.map { PatientTransport(transport, wait: $0) } ?? transport)
    }

    private func transport(_ context: CommandContext, _ isSilent: Bool) throws -> any APITransport {
        if let address {
            return CurlAPITransport(
                url: address, token: try token(context),
                trustedCertificates: arguments.value("ca"))
        }
        let socket = try socket(context)
        // With --json standard error holds a problem object or nothing: the remark goes into that object's hint.
        if let remark = socket.remark, !isJSON, !isSilent, warning.isFirst() {
            context.console.writeError("warning: \(DisplayWidth.sanitised(remark))\n")
        }
        return CurlAPITransport(socket: socket.path, remark: isJSON ? socket.remark : nil, for: person)
    }

    /// The API's token, from `--token` or the environment variable.
    private func token(_ context: CommandContext) throws -> String? {
        let (name, text) =
            arguments.value("token").map { ("--token", $0) } ?? (
                Self.tokenVariable, context.environment[Self.tokenVariable] ?? ""
            )
        let bytes = (try? SecretText.read(Array(text.utf8))) ?? Array(text.utf8)
        guard !bytes.isEmpty else { return nil }
        if let doubt = SecretText.doubt(bytes) { throw UsageError("\(name) \(doubt)") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A person who pauses a campaign does not need a valid configuration. Only a missing file that `--config` names is
    /// refused, because the default socket could be another daemon's.
    private func socket(_ context: CommandContext) throws -> ControlSocket {
        if let path = arguments.value("socket") { return ControlSocket(path: path) }
        let named = arguments.value("config") != nil
        let variable = context.environment[Self.socketVariable].flatMap { $0.isEmpty ? nil : $0 }
        if let variable, !named { return ControlSocket(path: variable) }
        let file = configurationFile(context)
        if named, !file.exists { _ = try file.load() }
        return file.controlSocket(isNamed: named || file.path != RelayConfiguration.defaultPath)
    }

    /// The configuration that `--config` or the environment names, or the default one.
    func configurationFile(_ context: CommandContext) -> ConfigurationFile {
        ConfigurationFile.located(option: arguments.value("config"), environment: context.environment)
    }
}
