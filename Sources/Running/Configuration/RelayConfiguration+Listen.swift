// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import WireFormat

extension RelayConfiguration {
    static func readListen(_ reader: ConfigurationReader) -> ListenConfiguration {
        var listen = ListenConfiguration()
        let address = reader.string("address", default: listen.address.description, check: notAnAddress)
        listen.address = ListenAddress(address) ?? listen.address
        let operations = reader.string("operations") { [address = listen.address] text in
            if let problem = notAnAddress(text) { return problem }
            // Port 0: the system chooses a port, another one each time.
            return ListenAddress(text) == address && address.port != 0
                ? "is what listen.address is, too; another address, or another port of it, is needed" : nil
        }
        listen.operations = operations.flatMap { ListenAddress($0) }
        listen.controlSocket = reader.string("controlSocket", default: listen.controlSocket) { path in
            if let problem = absolutePath(path) { return problem }
            // sun_path holds 108 bytes with the NUL (unix(7)).
            return path.utf8.count > 107 ? "has \(path.utf8.count) bytes; a socket's path has at most 107" : nil
        }
        listen.controlSocketGroup = reader.parsed(
            "controlSocketGroup", else: "is not a group of this system; one that \"getent group\" shows"
        ) { SystemGroup($0) }
        if let tls = reader.optionalObject("tls") { listen.tls = readTLS(tls) }
        listen.isPlainMeant = reader.isNull("tls")
        if let limits = reader.object("limits") { readLimits(limits, into: &listen.limits) }
        listen.checkTrust = reader.choice("checkTrust", default: listen.checkTrust, "whose word is taken")
        listen.corsOrigins = readOrigins(reader)
        let (servesPage, page) = reader.flagOrObject("page", default: listen.page)
        listen.page = servesPage
        if let page {
            if let identity = page.optionalObject("identity") { listen.identity = readIdentity(identity) }
            page.finish()
        }
        reader.finish()
        return listen
    }

    /// The most origins: each answer looks up its request's origin among them.
    private static let mostOrigins = 64

    private static func readOrigins(_ reader: ConfigurationReader) -> WebOrigins {
        if let any = reader.raw("corsOrigins"), any.string == "*" {
            reader.settle(at: reader.path(of: "corsOrigins"), any)
            return .everybody
        }
        let list = reader.list("corsOrigins")
        if list.count > mostOrigins {
            reader.fault("corsOrigins", "has at most \(mostOrigins) origins; it has \(list.count)")
        }
        var origins: Set<String> = []
        for (value, path) in list {
            let text = value.string
            if text == "*", list.count == 1 { return .everybody }
            if let text, WebOrigins.fault(in: text) == nil {
                origins.insert(text)
            } else {
                let fault = text.flatMap(WebOrigins.fault) ?? "is no text"
                reader.fault(at: path, "\(value.held) is refused: \(fault)")
            }
        }
        return .these(origins)
    }

    private static func notAnAddress(_ text: String) -> String? {
        ListenAddress(text) == nil
            ? "is not an address to listen on; an IP address and a port, such as \"127.0.0.1:8480\" or \"[::1]:8480\""
            : nil
    }

    private static func readTLS(_ reader: ConfigurationReader) -> TLSConfiguration? {
        let certificate = reader.requiredSecret(
            "certificate", "where the PEM file of the server's certificate and its chain is")
        let key = reader.requiredSecret("key", "where the PEM file of the certificate's private key is")
        reader.finish()
        guard let certificate, let key else { return nil }
        return TLSConfiguration(certificate: certificate, key: key)
    }

    private static func readLimits(_ reader: ConfigurationReader, into limits: inout APILimits) {
        limits.server.connections = reader.integer(
            "connections", default: limits.server.connections, in: 16...1_000_000, "a number of connections")
        limits.server.connectionsPerAddress = reader.integer(
            "connectionsPerAddress", default: max(1, limits.server.connections / 2), in: 1...1_000_000,
            "a number of connections")
        let times = Duration.seconds(1)...Duration.seconds(3600)
        limits.server.idleTime = reader.duration("idleTime", default: "30s", in: times).milliseconds
        limits.server.requestTime = reader.duration("requestTime", default: "30s", in: times).milliseconds
        limits.body = reader.integer("body", default: limits.body, in: 1024...(64 << 20), "a number of bytes")
        limits.server.head = reader.integer("head", default: limits.server.head, in: 1024...16_384, "a number of bytes")
        limits.server.target = reader.integer(
            "target", default: limits.server.target, in: 512...16_384, "a number of bytes")
        limits.server.threads = reader.integer(
            "threads", default: limits.server.threads, in: 1...64, "a number of threads")
        reader.finish()
    }
}
