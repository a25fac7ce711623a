// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import WireFormat

/// The egress settings as the file has them: with the place of a proxy's secret instead of the secret.
package struct EgressConfiguration: Sendable, Hashable {
    /// The owner's setting of a proxy.
    package enum Proxy: Sendable, Hashable {
        /// The address as it is written; with its user and password, if it has them.
        case address(ProxyServer)
        /// The same with a password that is kept elsewhere.
        case user(String, password: SecretSource, of: ProxyServer)
        /// The whole address is kept elsewhere.
        case kept(SecretSource, key: String)

        /// The place of its secret; nil: it has none, or has it inline.
        package var secret: SecretSource? {
            switch self {
            case .address: nil
            case .user(_, let password, _): password
            case .kept(let place, _): place
            }
        }
    }

    /// Default none.
    package var proxy: Proxy?
    /// The addresses that are reached without the proxy. Default this machine for the common proxy, none for another.
    package var exceptions: [ProxyException] = []
    /// A PEM file of certificates to trust instead of the system's. Default the system's.
    package var trustedCertificates: String?
    /// A PEM file of certificates to trust beside the system's, from the common settings.
    package var addedCertificates: String?

    package init() {}

    /// Reads the secret.
    ///
    /// - Throws: `FieldFault` with the field, without any part of the secret.
    package func egress(environment: [String: String]) throws(FieldFault) -> Egress {
        var egress = Egress(trustedCertificates: trustedCertificates)
        egress.addedCertificates = addedCertificates
        egress.exceptions = exceptions
        egress.proxy = try proxy?.server(environment: environment)
        return egress
    }
}

extension EgressConfiguration.Proxy {
    func server(environment: [String: String]) throws(FieldFault) -> ProxyServer {
        switch self {
        case .address(let server): return server
        case .user(let user, let password, let server):
            let field = "\(server.key).password"
            let secret = try Self.text(password, at: field, environment)
            do throws(ProxyServer.Fault) {
                return try server.with(user: user, password: secret)
            } catch {
                throw FieldFault(field, "\(password.place) \(error)")
            }
        case .kept(let place, let key):
            let secret = try Self.text(place, at: key, environment)
            do throws(ProxyServer.Fault) {
                return try ProxyServer(secret, key: key)
            } catch {
                throw FieldFault(key, "\(place.place) holds an address that \(error)")
            }
        }
    }

    private static func text(
        _ place: SecretSource, at field: String, _ environment: [String: String]
    ) throws(FieldFault) -> String {
        let bytes = try place.read(at: field, environment: environment)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FieldFault(field, "\(place.place) is not UTF-8")
        }
        return text
    }

    /// Whether the configuration itself holds a password.
    var isInlineSecret: Bool { if case .address(let server) = self { server.password != nil } else { false } }

    /// For people, without a secret; nil where the whole address is kept elsewhere.
    var shown: String? {
        switch self {
        case .address(let server), .user(_, _, let server): server.description
        case .kept: nil
        }
    }
}

extension EgressConfiguration {
    /// For people, without a secret; nil where every connection is direct, and the system's certificates are trusted.
    package var shown: String? {
        let way = proxy.map { "by the proxy \($0.shown ?? "that \($0.secret?.place ?? "") names")" }
        let trust = addedCertificates.map { "trusting \($0) beside the system's certificates" }
        let parts = [way, trust].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}

extension RelayConfiguration {
    /// `egress`: the common settings, for every address without its own.
    static func readEgress(_ root: ConfigurationReader) -> EgressConfiguration {
        var egress = EgressConfiguration()
        guard let reader = root.object("egress") else { return egress }
        egress.proxy = reader.proxy("proxy")
        let exceptions = reader.proxyExceptions("noProxy")
        if egress.proxy != nil { egress.exceptions = ProxyException.loopback + exceptions }
        egress.addedCertificates = reader.file("trustedCertificates")
        reader.finish()
        return egress
    }
}

extension ConfigurationReader {
    /// `proxy` and `trustedCertificates` of one address; the common settings where they are absent. A proxy of its own is
    /// used for every address, because the exceptions belong to the common proxy.
    ///
    /// - Parameter tookPasswords: whether release 0.1.0 had this address. That release allowed a password only in the address of
    ///   a proxy, so one there draws only a warning.
    func egress(over common: EgressConfiguration, tookPasswords: Bool = false) -> EgressConfiguration {
        var egress = common
        if let own = proxy("proxy", tookPasswords: tookPasswords) { (egress.proxy, egress.exceptions) = (own, []) }
        egress.trustedCertificates = file("trustedCertificates")
        return egress
    }

    /// A proxy's address, `{ url, user, password }`, or the place of the whole address; nil where it is absent, and after a
    /// fault.
    ///
    /// No fault repeats the value, because it may contain part of a password.
    func proxy(_ key: String, tookPasswords: Bool = false) -> EgressConfiguration.Proxy? {
        note(at: path(of: key), .proxy)
        guard let value = raw(key) else { return nil }
        if let text = value.string {
            return server(text, key, tookPasswords: tookPasswords).map(EgressConfiguration.Proxy.address)
        }
        guard let members = value.object else {
            fault(key, "is no proxy; an address such as \"http://proxy.example:3128\"")
            return nil
        }
        let names = Set(members.map(\.name))
        guard names.contains("url") else {
            guard !names.isDisjoint(with: ["file", "credential", "environment"]) else {
                fault(
                    key,
                    "is no proxy; { url: \"http://proxy.example:3128\", user: \"…\", password: { file: \"…\" } }, or the place of "
                        + "the whole address: { file: \"…\" }")
                return nil
            }
            return secret(value, at: path(of: key)).map { .kept($0, key: path(of: key)) }
        }
        return proxy(of: members, key)
    }

    private func proxy(of members: [JSONMember], _ key: String) -> EgressConfiguration.Proxy? {
        let strangers = members.map(\.name).filter { !["url", "user", "password"].contains($0) }
        for name in strangers.sorted() { fault("\(key).\(name)", "unknown key; known here: password, url, user") }
        func member(_ name: String) -> JSONValue? {
            members.last { $0.name == name }.flatMap { $0.value == .null ? nil : $0.value }
        }
        guard let url = member("url")?.string else {
            fault("\(key).url", "is no proxy; an address such as \"http://proxy.example:3128\"")
            return nil
        }
        guard let server = server(url, "\(key).url", named: key) else { return nil }
        let user = member("user")?.string
        switch (user, member("password")) {
        case (nil, nil):
            if member("user") != nil { fault("\(key).user", "is not text") }
            return .address(server)
        case (let user?, let place?):
            guard server.user == nil else {
                fault("\(key).url", "has a user of its own; leave it out where there is \(key).user")
                return nil
            }
            do throws(ProxyServer.Fault) {
                _ = try server.with(user: user, password: "")
            } catch {
                fault("\(key).user", "\(error)")
                return nil
            }
            settle(at: path(of: "\(key).user"), .string(user))
            return secret(place, at: path(of: "\(key).password")).map { .user(user, password: $0, of: server) }
        case (_?, nil):
            fault(
                "\(key).password",
                "missing beside \(key).user; where it is kept: { file: \"…\" } or { credential: \"…\" }")
        case (nil, _?):
            fault("\(key).user", "missing beside \(key).password; the user that the proxy knows")
        }
        return nil
    }

    private func server(
        _ text: String, _ field: String, named key: String? = nil, tookPasswords: Bool = false
    ) -> ProxyServer? {
        do throws(ProxyServer.Fault) {
            let server = try ProxyServer(text, key: path(of: key ?? field))
            guard server.password == nil || tookPasswords else {
                fault(field, "has its password in it: a secret is never written here; \(Self.keptElsewhere)")
                return nil
            }
            settle(at: path(of: field), .string(server.description))
            return server
        } catch {
            fault(field, "\(error). Its value is not repeated here: it may hold a password")
            return nil
        }
    }

    static let keptElsewhere =
        "name where it is kept: { url: \"…\", user: \"…\", password: { credential: \"…\" } }, or { credential: \"…\" } for the "
        + "whole address"

    /// A list, or one text with commas as in `NO_PROXY`.
    func proxyExceptions(_ key: String) -> [ProxyException] {
        var entries = raw(key)?.string.map { text in
            text.split(separator: ",").map { (JSONValue.string(String($0)), path(of: key)) }
        }
        if let text = raw(key), entries != nil {
            note(at: path(of: key), .list)
            settle(at: path(of: key), text)
        } else {
            entries = list(key).map { ($0.value, $0.path) }
        }
        return (entries ?? []).compactMap { value, path in
            let text = value.string.map { $0.drop { $0 == " " } }.map(String.init)
            guard let text, let exception = ProxyException(text.trimmingBlanks) else {
                fault(
                    at: path,
                    "\(value.held) is nothing to reach without a proxy; \"example.com\" with all below it, \".example.com\", "
                        + "\"10.0.0.0/8\", each with or without a port as \"example.com:8443\", or \"*\"")
                return nil
            }
            return exception
        }
    }
}

extension String {
    fileprivate var trimmingBlanks: String {
        var text = self[...]
        while text.last == " " { text = text.dropLast() }
        return String(text.drop { $0 == " " })
    }
}

extension ConfigurationCheck {
    /// Checks the secret and the certificates of egress settings.
    ///
    /// - Parameter field: the field that holds `proxy` and `trustedCertificates`. The common ones are checked once, in their
    ///   own field.
    func check(_ egress: EgressConfiguration, _ field: String, _ report: inout Report) {
        let isCommon = field == "egress"
        if let proxy = egress.proxy, isCommon || proxy != configuration.egress.proxy {
            if proxy.isInlineSecret {
                report.warnings.append(
                    FieldFault(
                        "\(field).proxy",
                        "has its password in the configuration; take it out, and \(ConfigurationReader.keptElsewhere)"))
            }
            do throws(FieldFault) {
                _ = try proxy.server(environment: environment)
                if let secret = proxy.secret { report.noteRead(secret, "\(field).proxy") }
            } catch {
                report.faults.append(error)
            }
        }
        let path = isCommon ? egress.addedCertificates : egress.trustedCertificates
        if let path { checkCertificates(path, "\(field).trustedCertificates", &report) }
    }

    /// Warns of variables that set a proxy or certificates for other programs: the relay ignores them, because
    /// a service's environment differs from that of the person who checks its configuration.
    func checkEnvironment(_ report: inout Report) {
        for (name, key) in Self.variables {
            guard let value = environment[name], !value.isEmpty else { continue }
            report.warnings.append(
                FieldFault(
                    key,
                    "the environment's \(name) is set, and the relay does not use it; set \(key) instead"))
        }
    }

    /// The variables of curl, OpenSSL and most other programs.
    private static let variables: [(name: String, key: String)] =
        ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"].map {
            ($0, "egress.proxy")
        }
        + ["NO_PROXY", "no_proxy"].map { ($0, "egress.noProxy") }
        + ["SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"].map { ($0, "egress.trustedCertificates") }
}
