// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A real Caddy with a backend of its own.
enum Caddy {
    /// Starts Caddy and returns when it listens.
    ///
    /// - Parameter site: the site `api.example.com`, with its servers at 127.0.0.1:8080. Here both are sockets in the folder, and
    ///   there is no TLS.
    static func start(_ site: String) throws -> ProxyProcess {
        let proxy = try ProxyProcess("caddy")
        let path = proxy.path
        let configuration = """
            {
                admin off
                auto_https off
            }
            http://backend.example.com {
                bind unix/\(path)/backend.sock
                respond /forbidden "the backend forbids it" 403
                respond /broken "the backend is broken" 503
                respond "\(ProxyProcess.backend)" 200
            }
            \(site.replacing("api.example.com {", with: "http://api.example.com {\n    bind unix/\(path)/front.sock")
                .replacing("127.0.0.1:8080", with: "unix/\(path)/backend.sock {\n header_up Host backend.example.com\n }"))
            """
        try Data(configuration.utf8).write(to: proxy.folder.appending(path: "Caddyfile"))
        try proxy.start(
            "/usr/bin/caddy",
            [
                "run", "--config", "\(path)/Caddyfile", "--adapter", "caddyfile",
            ], untilThereAre: ["front.sock", "backend.sock"])
        return proxy
    }
}
