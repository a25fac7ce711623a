// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// An HTTPS server to connect to.
package struct ServerAddress: Sendable, Equatable, CustomStringConvertible {
    /// A DNS name or an IP address, without brackets.
    package var host: String
    package var port: UInt16
}

extension ServerAddress {
    /// "https://127.0.0.1:2197", "https://[::1]:2197", "https://api.push.apple.com"; no path, no user, no query.
    init?(_ text: String) {
        guard text.lowercased().hasPrefix("https://") else { return nil }
        var rest = text.dropFirst("https://".count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        let host: Substring
        let portText: Substring?
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            let after = rest[rest.index(after: end)...]
            guard after.isEmpty || after.hasPrefix(":") else { return nil }
            portText = after.isEmpty ? nil : after.dropFirst()
            guard ListenAddress("[\(host)]:1") != nil else { return nil }
        } else {
            let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            host = parts.first ?? ""
            portText = parts.count > 1 ? parts[1] : nil
            guard !host.isEmpty, isOfLettersAndDigits(host, or: ".-") else { return nil }
        }
        var port: UInt16 = 443
        if let portText {
            guard let number = ListenAddress.port(portText), number > 0 else { return nil }
            port = number
        }
        self.init(host: String(host), port: port)
    }

    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == 443 ? "https://\(name)" : "https://\(name):\(port)"
    }
}
