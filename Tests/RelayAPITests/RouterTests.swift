// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

@testable import HTTPServer
@testable import RelayAPI

@Suite("Routes")
struct RouterTests {
    /// Every route of CONTRACT, with the values in its path and its right.
    static let table: [(method: String, path: String, pattern: String, values: PathValues, right: Right)] = [
        ("GET", "/healthz", "/healthz", PathValues(), .nothing),
        ("GET", "/readyz", "/readyz", PathValues(), .nothing),
        ("GET", "/openapi.json", "/openapi.json", PathValues(), .nothing),
        ("GET", "/metrics", "/metrics", PathValues(), .nothing),
        ("GET", "/v1/enforce", "/v1/enforce", PathValues(), .nothing),
        ("GET", "/v1/log", "/v1/log", PathValues(), .operatorOnly),
        ("PUT", "/v1/log", "/v1/log", PathValues(), .operatorOnly),
        ("POST", "/v1/reload", "/v1/reload", PathValues(), .operatorOnly),
        ("POST", "/v1/webhooks/version", "/v1/webhooks/version", PathValues(), .signature),
        (
            "POST", "/v1/webhooks/github/com.example.app/ios", "/v1/webhooks/github/{app}/{platform}",
            PathValues(app: "com.example.app", platform: .ios), .signature
        ),
        (
            "POST", "/v1/webhooks/gitlab/com.example.app/ios", "/v1/webhooks/gitlab/{app}/{platform}",
            PathValues(app: "com.example.app", platform: .ios), .signature
        ),
        (
            "POST", "/v1/webhooks/app-store-connect/com.example.app", "/v1/webhooks/app-store-connect/{app}",
            PathValues(app: "com.example.app"), .signature
        ),
        ("POST", "/v1/session", "/v1/session", PathValues(), .signedIn),
        ("DELETE", "/v1/session", "/v1/session", PathValues(), .signedIn),
        ("POST", "/v1/session/link", "/v1/session/link", PathValues(), .operatorOnly),
        ("GET", "/v1/events", "/v1/events", PathValues(), .scope(.status)),
        (
            "GET", "/v1/campaigns/c1/report", "/v1/campaigns/{id}/report", PathValues(name: "c1"), .scope(.status)
        ),
        ("GET", "/v1/apps", "/v1/apps", PathValues(), .scope(.status)),
        (
            "GET", "/v1/apps/com.example.app/ios/version", "/v1/apps/{app}/{platform}/version",
            PathValues(app: "com.example.app", platform: .ios), .scope(.status)
        ),
        (
            "PUT", "/v1/apps/com.example.app/ios/version", "/v1/apps/{app}/{platform}/version",
            PathValues(app: "com.example.app", platform: .ios), .scope(.versions)
        ),
        (
            "POST", "/v1/apps/com.example.app/ios/plan", "/v1/apps/{app}/{platform}/plan",
            PathValues(app: "com.example.app", platform: .ios), .scope(.versions)
        ),
        (
            "GET", "/v1/apps/com.example.app/ios/devices", "/v1/apps/{app}/{platform}/devices",
            PathValues(app: "com.example.app", platform: .ios), .scope(.users)
        ),
        (
            "POST", "/v1/apps/com.example.app/ios/devices", "/v1/apps/{app}/{platform}/devices",
            PathValues(app: "com.example.app", platform: .ios), .scope(.devices)
        ),
        (
            "GET", "/v1/apps/com.example.app/ios/devices/ab", "/v1/apps/{app}/{platform}/devices/{token}",
            PathValues(app: "com.example.app", platform: .ios, name: "ab"), .scope(.users)
        ),
        (
            "PUT", "/v1/apps/com.example.app/ios/devices/ab", "/v1/apps/{app}/{platform}/devices/{token}",
            PathValues(app: "com.example.app", platform: .ios, name: "ab"), .scope(.devices)
        ),
        (
            "PATCH", "/v1/apps/com.example.app/ios/devices/ab", "/v1/apps/{app}/{platform}/devices/{token}",
            PathValues(app: "com.example.app", platform: .ios, name: "ab"), .scope(.devices)
        ),
        (
            "DELETE", "/v1/apps/com.example.app/ios/devices/ab", "/v1/apps/{app}/{platform}/devices/{token}",
            PathValues(app: "com.example.app", platform: .ios, name: "ab"), .scope(.devices)
        ),
        ("GET", "/v1/devices", "/v1/devices", PathValues(), .scope(.users)),
        ("GET", "/v1/users", "/v1/users", PathValues(), .scope(.users)),
        ("DELETE", "/v1/users", "/v1/users", PathValues(), .scope(.devices)),
        ("GET", "/v1/campaigns", "/v1/campaigns", PathValues(), .scope(.status)),
        ("GET", "/v1/campaigns/0a", "/v1/campaigns/{id}", PathValues(name: "0a"), .scope(.status)),
        (
            "GET", "/v1/campaigns/0a/deliveries", "/v1/campaigns/{id}/deliveries", PathValues(name: "0a"),
            .scope(.status)
        ),
        (
            "GET", "/v1/campaigns/0a/adoption", "/v1/campaigns/{id}/adoption", PathValues(name: "0a"), .scope(.status)
        ),
        ("GET", "/v1/campaigns/0a/events", "/v1/campaigns/{id}/events", PathValues(name: "0a"), .scope(.status)),
        ("POST", "/v1/campaigns/0a/pause", "/v1/campaigns/{id}/pause", PathValues(name: "0a"), .scope(.campaigns)),
        ("POST", "/v1/campaigns/0a/resume", "/v1/campaigns/{id}/resume", PathValues(name: "0a"), .scope(.campaigns)),
        ("POST", "/v1/campaigns/0a/cancel", "/v1/campaigns/{id}/cancel", PathValues(name: "0a"), .scope(.campaigns)),
        ("POST", "/v1/campaigns/0a/retry", "/v1/campaigns/{id}/retry", PathValues(name: "0a"), .scope(.campaigns)),
        ("GET", "/v1/deliveries", "/v1/deliveries", PathValues(), .scope(.users)),
        ("GET", "/v1/nodes", "/v1/nodes", PathValues(), .scope(.status)),
        ("GET", "/v1/store", "/v1/store", PathValues(), .operatorOnly),
        ("GET", "/v1/tokens", "/v1/tokens", PathValues(), .operatorOnly),
        ("POST", "/v1/tokens", "/v1/tokens", PathValues(), .operatorOnly),
        ("DELETE", "/v1/tokens/ci", "/v1/tokens/{name}", PathValues(name: "ci"), .operatorOnly),
    ]

    @Test("method and path to route and right", arguments: table)
    func route(entry: (method: String, path: String, pattern: String, values: PathValues, right: Right)) throws {
        let target = try RequestTarget(entry.path)
        for method in entry.method == "GET" ? ["GET", "HEAD"] : [entry.method] {
            let found = Self.find(method, target.segments)
            let (route, values) = try #require(found.route)
            #expect(route.pattern == "\(entry.method) \(entry.pattern)")
            #expect(values == entry.values)
            #expect(route.right == entry.right)
        }
    }

    /// The router's result in a form that can be compared.
    static func find(
        _ method: String, _ segments: [String]
    ) -> (route: (Route, PathValues)?, allowed: String?, unknownPlatform: String?) {
        switch Router.api.route(method: method, segments: segments) {
        case .route(let route, let values): ((route, values), nil, nil)
        case .notFound: (nil, nil, nil)
        case .wrongMethod(let routes): (nil, Router.allowed(routes), nil)
        case .unknownPlatform(let name): (nil, nil, name)
        }
    }

    @Test("each method of each path is there once")
    func once() {
        let patterns = Route.all.map(\.pattern)
        #expect(Set(patterns).count == patterns.count)
    }

    @Test(
        "what is not there",
        arguments: [
            "/", "/v1", "/v1/", "/v1/campaigns/", "/v1/campaigns//events", "/v1/campaigns/0a/explode", "/V1/campaigns",
            "/v1/apps/a", "/v1/apps/a/ios", "/v1/apps/a/ios/versions", "/v1/apps/a/ios/version/x", "/v2/apps",
            "/v1/apps/a/ios/devices/t/x", "/v1/deliveries/x", "/v1/tokens/a/b", "/healthz/", "/v1/webhooks",
            "/v1/webhooks/github", "/v1/webhooks/github/a", "/v1/webhooks/app-store-connect/a/ios",
            "/v1/webhooks/version/a",
        ])
    func notFound(path: String) throws {
        let target = try RequestTarget(path)
        guard case .notFound = Router.api.route(method: "GET", segments: target.segments) else {
            Issue.record("found")
            return
        }
    }

    @Test("the wrong method is told the right ones")
    func wrongMethod() {
        func allowed(_ method: String, _ segments: [String]) -> String? { Self.find(method, segments).allowed }
        #expect(allowed("PATCH", ["v1", "campaigns"]) == "GET, HEAD, OPTIONS")
        #expect(allowed("POST", ["v1", "apps", "a", "ios", "version"]) == "GET, HEAD, OPTIONS, PUT")
        #expect(allowed("GET", ["v1", "webhooks", "version"]) == "OPTIONS, POST")
        #expect(allowed("HEAD", ["v1", "webhooks", "version"]) == "OPTIONS, POST")
        #expect(allowed("GET", ["v1", "webhooks", "github", "a", "ios"]) == "OPTIONS, POST")
    }

    @Test("an unknown platform is named")
    func unknownPlatform() {
        #expect(Self.find("POST", ["v1", "webhooks", "gitlab", "a", "mac"]).unknownPlatform == "mac")
        #expect(Self.find("GET", ["v1", "apps", "a", "windows", "version"]).unknownPlatform == "windows")
    }

    @Test("targets are cut first and decoded afterwards, once")
    func targets() {
        #expect((try? RequestTarget("/a%2Fb/%25%32"))?.segments == ["a/b", "%2"])
        #expect((try? RequestTarget("/a+b?x=a+b&y=%2B86&z&=1"))?.segments == ["a+b"])
        #expect(
            (try? RequestTarget("/?x=a+b&y=%2B86&z=1=2&q?"))?.query
                == [
                    .init(name: "x", value: "a b"), .init(name: "y", value: "+86"), .init(name: "z", value: "1=2"),
                    .init(name: "q?", value: ""),
                ])
        for bad in ["", "a", "*", "http://x/", "/%", "/%4", "/%zz", "/%C0%80", "/%00", "/?a=%FF"] {
            #expect((try? RequestTarget(bad)) == nil, "\(bad)")
        }
    }
}
