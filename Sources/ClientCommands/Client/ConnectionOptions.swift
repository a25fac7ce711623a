// SPDX-License-Identifier: Apache-2.0
import Configuration
import Synchronization
package import Terminal
import WireFormat

/// Where the daemon is, as every command that talks to it understands it.
package struct ConnectionOptions: Sendable {
    package static let specs = CommandSpec.options("connection")
    static let tokenVariable = "UPGRADE_RELAY_TOKEN"
    static let socketVariable = "UPGRADE_RELAY_SOCKET"

    /// Instead of the daemon's socket or address: for tests.
    @TaskLocal static var transport: (any APITransport)?

    let isJSON: Bool
    let isQuiet: Bool
    /// The daemon's HTTP address; nil: its control socket.
    let address: String?
    /// What `--token` meant where it is not the API's.
    let deviceToken: String?
    /// How long the daemon may take to answer at all; nil: it is asked once.
    private let wait: Duration?
    private let arguments: ParsedArguments
    /// Of a configuration that cannot be used; written once, however often the daemon is asked.
    private let warning = Warning()

    private final class Warning: Sendable {
        private let isWritten = Atomic(false)

        func isFirst() -> Bool { !isWritten.exchange(true, ordering: .relaxed) }
    }

    /// - Parameter tokenIsDevice: whether `--token` is a device's; with an address it is the API's all the same.
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

    /// - Parameter isSilent: whether nobody is told of a configuration that cannot be used.
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
        // With --json standard error holds a problem object or nothing; the hint of that says it.
        if let remark = socket.remark, !isJSON, !isSilent, warning.isFirst() {
            context.console.writeError("warning: \(DisplayWidth.sanitised(remark))\n")
        }
        return CurlAPITransport(socket: socket.path, remark: isJSON ? socket.remark : nil)
    }

    /// The API's token, as its variable or a file of such has it.
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

    /// Who pauses a campaign does not need a configuration without faults: only a file that was named here and is not there
    /// is refused, because the default could be another daemon's.
    private func socket(_ context: CommandContext) throws -> ControlSocket {
        if let path = arguments.value("socket") { return ControlSocket(path: path) }
        let named = arguments.value("config") != nil
        let variable = context.environment[Self.socketVariable].flatMap { $0.isEmpty ? nil : $0 }
        if let variable, !named { return ControlSocket(path: variable) }
        let file = configurationFile(context)
        if named, !file.exists { _ = try file.load() }
        return file.controlSocket(isNamed: named || file.path != RelayConfiguration.defaultPath)
    }

    /// The one that was named, or the usual one.
    func configurationFile(_ context: CommandContext) -> ConfigurationFile {
        ConfigurationFile.located(option: arguments.value("config"), environment: context.environment)
    }
}
