// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import Testing

/// The real daemon behind a real nginx that caches all that it may.
@Suite(.serialized, .ownThread) struct CacheTests {
    @Test("what a proxy's cache may keep is nobody's data")
    func strangers() throws {
        let bench = try Workbench()
        try bench.start()
        let made = try bench.command("tokens", "create", "--name", "ops", "--scope", "status", "--scope", "devices")
        let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let bearer = ("Authorization", "Bearer \(token)")
        let relay = try #require(bench.relay)
        let cache = FileManager.default.temporaryDirectory.appending(path: "relay-cache-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: cache) }
        let front = try Nginx.start(
            """
            proxy_cache_path \(cache) keys_zone=all:1m;
            server {
                listen 80;
                proxy_cache all;
                proxy_cache_valid 200 301 302 404 10m;
                add_header X-Cache $upstream_cache_status always;
                location / { proxy_pass http://\(relay.address); }
            }
            """)
        let app = Workbench.app
        for path in [
            "/v1/apps", "/v1/campaigns", "/v1/audit", "/v1/devices?telephone=138", "/v1/users?telephone=138",
            "/v1/deliveries?telephone=138", "/v1/apps/\(app)/ios/devices", "/v1/apps/\(app)/ios/version", "/",
        ] {
            let mine = try front.ask("GET", path, headers: [bearer])
            let theirs = try front.ask("GET", path)
            #expect(mine.status != 401 && theirs.status == 401, "\(path): \(mine.status), \(theirs.status)")
            #expect(mine["x-cache"] == "MISS" && theirs["x-cache"] == "MISS", "\(path)")
        }
        let cookie = try front.ask("POST", "/v1/session", headers: [bearer])
        let session = ("Cookie", String((cookie["set-cookie"] ?? "").prefix { $0 != ";" }))
        for path in ["/", "/v1/campaigns?limit=7", "/page/audit"] {
            #expect(try front.ask("GET", path, headers: [session]).status == 200, "\(path)")
            #expect(try front.ask("GET", path).status == 401, "\(path)")
        }
        // The proxy does keep what it may: the page's own files.
        let page = String(decoding: try front.ask("GET", "/", headers: [session]).body, as: UTF8.self)
        let style = try #require(page.firstMatch(of: #/"(/page/assets/[^"]+\.css)"/#)).1
        #expect(try front.ask("GET", String(style))["x-cache"] == "MISS")
        #expect(try front.ask("GET", String(style))["x-cache"] == "HIT")
    }
}
