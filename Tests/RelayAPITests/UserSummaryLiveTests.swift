// SPDX-License-Identifier: Apache-2.0
import CurlTransport
import Foundation
import OwnThread
import RelayEngine
import RelayStore
import Synchronization
import TestPeers
import Testing
import WireFormat

@testable import RelayAPI

/// A user in one line, in the API's answer and on the page.
@Suite("A user in one line, live", .ownThread)
struct UserSummaryLiveTests {
    private static let user = "13800138000"

    /// One device that is behind and was pushed to, and a store that offers the version.
    private func bench() throws -> Bench {
        let bench = try Bench(hasPage: true)
        let body = #"{"telephone":"\#(Self.user)","version":"1.9.0"}"#
        #expect(try bench.ask("PUT", "/v1/apps/com.example.app/ios/devices/ab01", body).status == 201)
        try bench.send(try bench.campaign(required: "2.1.0"))
        bench.control.offerNow.withLock { $0 = StoreOffer(.yes, "the App Store offers 2.1.0", askedAt: Bench.now) }
        return bench
    }

    @Test("the answer has the parts and the sentence, first")
    func answer() throws {
        let bench = try bench()
        let answer = try bench.ask("GET", "/v1/users?telephone=\(Self.user)")
        #expect(answer.body.hasPrefix(#"{"summary":[{"app":"com.example.app","platform":"ios","sentence":"Locked out"#))
        func text(_ name: String) -> String? { answer.text("summary", "0", name) }
        #expect(
            text("sentence")
                == "Locked out on iOS since 22:13 UTC: 2.1.0 is required, has 1.9.0. Push accepted 22:13 UTC. Can get it: yes."
        )
        #expect(text("state") == "lockedOut" && text("required") == "2.1.0" && text("has") == "1.9.0")
        #expect(
            text("since") == "2023-11-14T22:13:20.000Z" && answer.text("summary", "0", "push", "state") == "accepted")
        #expect(text("canGet") == "yes" && text("canGetWhy") == "the App Store offers 2.1.0")
        #expect(text("canGetAskedAt") == "2023-11-14T22:13:20.000Z")
        bench.clock.advance(by: .seconds(86_400))
        #expect(
            try bench.ask("GET", "/v1/users?telephone=\(Self.user)").body.contains("since 2023-11-14 22:13 UTC: 2.1.0"))
        #expect(try bench.ask("GET", "/v1/users?telephone=139").count("summary") == 0)
    }

    @Test(
        "the page shows it before the details, in its language",
        arguments: [
            (
                "en",
                "Locked out on iOS since 2023-11-14 22:13:20 UTC: 2.1.0 is required, has 1.9.0. Push accepted 2023-11-14 22:13:20 UTC. Can get it: yes."
            ),
            (
                "zh",
                "iOS 上被锁定，自 2023-11-14 22:13:20 UTC：必须升级到 2.1.0，现有 1.9.0。推送于 2023-11-14 22:13:20 UTC 被接受。能否获取：能。"
            ),
        ])
    func page(language: String, sentence: String) throws {
        let bench = try bench()
        let token = try bench.newToken(.users)
        var request = HTTPRequest(
            "GET", "http://127.0.0.1:\(bench.server.port ?? 0)/page/users?telephone=\(Self.user)")
        request.headers = [("Authorization", "Bearer \(token)"), ("Accept-Language", language)]
        let page = Answer(try HTTPClient().send(request))
        let text = page.body.replacing(/<[^>]+>/, with: "")
        let place = try #require(text.range(of: sentence), "\(text)")
        let details = try #require(text.range(of: "com.example.app iOS"), "\(text)")
        #expect(place.lowerBound < details.lowerBound)
        #expect(!page.body.contains("/page/campaigns/"), "it links to no page that the reader may not see")
    }
}
