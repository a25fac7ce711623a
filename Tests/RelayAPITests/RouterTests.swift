// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Testing
import UpgradeRules

@testable import HTTPServer
@testable import RelayAPI

@Suite("Routes")
struct RouterTests {
    static let app = AppKey(app: "com.example.app", platform: .ios)

    /// Every route of CONTRACT, with the right that it asks for.
    static let table: [(method: String, path: String, route: Route, right: Right)] = [
        ("GET", "/healthz", .health, .nothing),
        ("GET", "/readyz", .readiness, .nothing),
        ("GET", "/openapi.json", .openAPI, .nothing),
        ("GET", "/metrics", .metrics, .nothing),
        ("GET", "/v1/log", .logLevel, .operatorOnly),
        ("PUT", "/v1/log", .setLogLevel, .operatorOnly),
        ("POST", "/v1/webhooks/version", .versionWebhook, .signature),
        ("POST", "/v1/webhooks/github/com.example.app/ios", .gitHubWebhook(app), .signature),
        ("POST", "/v1/webhooks/gitlab/com.example.app/ios", .gitLabWebhook(app), .signature),
        (
            "POST", "/v1/webhooks/app-store-connect/com.example.app",
            .appStoreConnectWebhook(app: "com.example.app"), .signature
        ),
        ("GET", "/v1/apps", .apps, .scope(.status)),
        ("GET", "/v1/apps/com.example.app/ios/version", .version(app), .scope(.status)),
        ("PUT", "/v1/apps/com.example.app/ios/version", .bump(app), .scope(.versions)),
        ("POST", "/v1/apps/com.example.app/ios/plan", .plan(app), .scope(.versions)),
        ("GET", "/v1/apps/com.example.app/ios/devices", .exportDevices(app), .scope(.devices)),
        ("POST", "/v1/apps/com.example.app/ios/devices", .importDevices(app), .scope(.devices)),
        ("GET", "/v1/apps/com.example.app/ios/devices/ab", .device(app, token: "ab"), .scope(.devices)),
        ("PUT", "/v1/apps/com.example.app/ios/devices/ab", .registerDevice(app, token: "ab"), .scope(.devices)),
        ("DELETE", "/v1/apps/com.example.app/ios/devices/ab", .removeDevice(app, token: "ab"), .scope(.devices)),
        ("GET", "/v1/campaigns", .campaigns, .scope(.status)),
        ("GET", "/v1/campaigns/0a", .campaign(id: "0a"), .scope(.status)),
        ("GET", "/v1/campaigns/0a/deliveries", .campaignDeliveries(id: "0a"), .scope(.status)),
        ("GET", "/v1/campaigns/0a/events", .campaignEvents(id: "0a"), .scope(.status)),
        ("POST", "/v1/campaigns/0a/pause", .moveCampaign(id: "0a", .pause), .scope(.campaigns)),
        ("POST", "/v1/campaigns/0a/resume", .moveCampaign(id: "0a", .resume), .scope(.campaigns)),
        ("POST", "/v1/campaigns/0a/cancel", .moveCampaign(id: "0a", .cancel), .scope(.campaigns)),
        ("GET", "/v1/deliveries", .deliveries, .scope(.status)),
        ("GET", "/v1/store", .store, .operatorOnly),
        ("GET", "/v1/tokens", .tokens, .operatorOnly),
        ("POST", "/v1/tokens", .createToken, .operatorOnly),
        ("DELETE", "/v1/tokens/ci", .revokeToken(name: "ci"), .operatorOnly),
    ]

    @Test("method and path to route and right", arguments: table)
    func route(entry: (method: String, path: String, route: Route, right: Right)) throws {
        let target = try #require(RequestTarget(entry.path))
        #expect(Router.route(method: entry.method, segments: target.segments) == .route(entry.route))
        #expect(entry.route.right == entry.right)
        if entry.method == "GET" {
            #expect(Router.route(method: "HEAD", segments: target.segments) == .route(entry.route))
        }
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
        let target = try #require(RequestTarget(path))
        #expect(Router.route(method: "GET", segments: target.segments) == .notFound)
    }

    @Test("the wrong method is told the right ones")
    func wrongMethod() {
        func allowed(_ method: String, _ segments: [String]) -> Router.Result {
            Router.route(method: method, segments: segments)
        }
        #expect(allowed("PATCH", ["v1", "campaigns"]) == .wrongMethod(allowed: ["GET", "HEAD"]))
        #expect(
            allowed("POST", ["v1", "apps", "a", "ios", "version"]) == .wrongMethod(allowed: ["GET", "HEAD", "PUT"]))
        #expect(allowed("GET", ["v1", "webhooks", "version"]) == .wrongMethod(allowed: ["POST"]))
        #expect(allowed("HEAD", ["v1", "webhooks", "version"]) == .wrongMethod(allowed: ["POST"]))
        #expect(allowed("GET", ["v1", "webhooks", "github", "a", "ios"]) == .wrongMethod(allowed: ["POST"]))
        #expect(allowed("POST", ["v1", "webhooks", "gitlab", "a", "mac"]) == .unknownPlatform("mac"))
    }

    @Test("an unknown platform is named")
    func unknownPlatform() {
        #expect(
            Router.route(method: "GET", segments: ["v1", "apps", "a", "windows", "version"])
                == .unknownPlatform("windows"))
    }

    @Test("targets are cut first and decoded afterwards, once")
    func targets() {
        #expect(RequestTarget("/a%2Fb/%25%32")?.segments == ["a/b", "%2"])
        #expect(RequestTarget("/a+b?x=a+b&y=%2B86&z&=1")?.segments == ["a+b"])
        #expect(
            RequestTarget("/?x=a+b&y=%2B86&z=1=2&q?")?.query
                == [
                    .init(name: "x", value: "a b"), .init(name: "y", value: "+86"), .init(name: "z", value: "1=2"),
                    .init(name: "q?", value: ""),
                ])
        for bad in ["", "a", "*", "http://x/", "/%", "/%4", "/%zz", "/%C0%80", "/%00", "/?a=%FF"] {
            #expect(RequestTarget(bad) == nil, "\(bad)")
        }
    }
}
