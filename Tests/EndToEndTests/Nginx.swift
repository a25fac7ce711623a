// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A real nginx with a backend of its own.
enum Nginx {
    /// Starts nginx and returns when it listens.
    ///
    /// - Parameter servers: the content of `http { }`. It listens at 80, which here is a socket in the folder, as is
    ///   `http://backend`. "FOLDER" stands for that folder.
    static func start(_ servers: String) throws -> ProxyProcess {
        let proxy = try ProxyProcess("nginx")
        let path = proxy.path
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "    \($0)_temp_path \(path)/\($0);"
        }
        let configuration = """
            pid \(path)/pid;
            error_log stderr;
            events {}
            http {
                access_log off;
            \(temporary.joined(separator: "\n"))
                upstream backend { server unix:\(path)/backend.sock; }
                server {
                    listen unix:\(path)/backend.sock;
                    location / { return 200 "\(ProxyProcess.backend)"; }
                    location /forbidden { return 403 "the backend forbids it"; }
                }
            \(servers.replacing("listen 80;", with: "listen unix:\(path)/front.sock;").replacing("FOLDER", with: path))
            }
            """
        try Data(configuration.utf8).write(to: proxy.folder.appending(path: "nginx.conf"))
        try proxy.start(
            "/usr/sbin/nginx",
            [
                "-p", path, "-c", "\(path)/nginx.conf", "-e", "stderr", "-g", "daemon off; master_process off;",
            ],
            // nginx writes its pid file when it listens (ngx_init_cycle).
            untilThereAre: ["pid"])
        return proxy
    }
}
