// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import StorePeers
import Testing
import UpgradeRules
import WireFormat

@testable import VersionSources

@Suite("App Store Connect's answers")
struct ConnectAnswerTests {
    private static let list = "https://api.appstoreconnect.apple.com/v1/apps/6446998023/appStoreVersions"

    @Test("a page of versions, with what is included of them")
    func page() throws {
        let page = try ConnectSample.read(
            ConnectSample.page([
                .init(version: "2.1", state: "IN_REVIEW"), .init(version: "2.0", phase: "PAUSED"),
                .init(version: "1.9", state: "REPLACED_WITH_NEW_VERSION", phase: "COMPLETE"),
            ]))
        #expect(page.next == nil)
        #expect(page.entries.map(\.release.version.text) == ["2.1", "2.0", "1.9"])
        #expect(
            page.entries.map(\.release.state) == ["IN_REVIEW", "READY_FOR_DISTRIBUTION", "REPLACED_WITH_NEW_VERSION"])
        #expect(page.entries.map(\.release.phase) == [nil, .paused, nil])
        #expect(page.entries.allSatisfy { $0.isPhaseKnown })
    }

    @Test("every state of a phased release is read", arguments: ["INACTIVE", "ACTIVE", "PAUSED", "COMPLETE"])
    func phases(_ state: String) throws {
        let page = try ConnectSample.read(ConnectSample.page([.init(version: "2.0", phase: state)]))
        #expect(page.entries.first?.release.phase?.rawValue == state)
        let alone = try AppStoreConnectAnswer.phase(Array(ConnectSample.phase(state).utf8), of: "a")
        #expect(alone?.rawValue == state)
        #expect(try AppStoreConnectAnswer.phase(Array(#"{"data": null}"#.utf8), of: "a") == nil)
    }

    @Test("a phased release that the page does not tell is to be asked for")
    func unknownPhase() throws {
        let page = try ConnectSample.read(
            ConnectSample.page([
                .init(version: "2.0", isIncluded: false), .init(version: "1.9", state: "IN_REVIEW", isIncluded: false),
            ]))
        #expect(page.entries.map(\.isPhaseKnown) == [false, true])
    }

    @Test("the older words, versions that were withdrawn, and old ones that cannot be read")
    func older() throws {
        func state(_ attributes: String) throws -> AppStoreConnectEvidence.Release? {
            try ConnectSample.read(
                #"{"data":[{"type":"appStoreVersions","id":"a","attributes":{"versionString":"1.0",\#(attributes)}}],"#
                    + #""links":{"self":"\#(Self.list)"}}"#
            ).entries.first?.release
        }
        #expect(try state(#""appStoreState":"READY_FOR_SALE""#)?.isLive == true)
        #expect(try state(#""appStoreState":"IN_REVIEW""#)?.state == "IN_REVIEW")
        let withdrawn = try state(
            #""appVersionState":"READY_FOR_DISTRIBUTION","appStoreState":"DEVELOPER_REMOVED_FROM_SALE""#)
        #expect(withdrawn?.isLive == false)
        let hidden = try state(#""appVersionState":"READY_FOR_DISTRIBUTION","downloadable":false"#)
        #expect(hidden?.isLive == false)
        #expect(hidden?.state == "READY_FOR_DISTRIBUTION, but not downloadable")
        let odd = ConnectSample.page([
            .init(version: "1.0b", state: "REPLACED_WITH_NEW_VERSION"), .init(version: "2.0"),
        ])
        #expect(try ConnectSample.read(odd).entries.map(\.release.version.text) == ["2.0"])
    }

    static let lies: [(String, String)] = [
        ("", "empty"), ("<html>", "a page (HTML)"), ("[]", "not a JSON object"), ("{}", "no list \"data\""),
        (#"{"data": {}}"#, "no list \"data\""), (#"{"data": [1]}"#, "data[0] is the number 1"),
        (#"{"data": [{"type": "apps", "id": "1"}]}"#, "no appStoreVersions"),
        (#"{"data": [{"type": "appStoreVersions", "id": "../x"}]}"#, "no appStoreVersions with an id"),
        (#"{"data": [{"type": "appStoreVersions", "id": "a", "attributes": {}}]}"#, "no versionString"),
        (
            #"{"data": [{"type": "appStoreVersions", "id": "a", "attributes": {"versionString": "1"}}]}"#,
            "no appVersionState"
        ),
        (ConnectSample.page([.init(version: "two")]), "versionString"),
        (ConnectSample.page([.init(version: "2.0", phase: "RESTING")]), "phasedReleaseState is \"RESTING\""),
        (ConnectSample.page([.init(version: "2.0")], appID: 1), "not for the app 6446998023"),
        (
            ConnectSample.page([.init(version: "2.0", more: #", "platform2": 1"#)], server: "https://evil.example"),
            "not for the app"
        ),
        (
            ConnectSample.page([], next: "https://evil.example/v1/apps/6446998023/appStoreVersions?cursor=A"),
            "elsewhere"
        ),
        (ConnectSample.page([], next: "https://api.appstoreconnect.apple.com/v1/users?cursor=A"), "leads elsewhere"),
        (ConnectSample.page([], next: "\(list)?cursor=A B"), "leads elsewhere"),
        (ConnectSample.page([], next: "\(list).evil.example?cursor=A"), "leads elsewhere"),
        (
            #"{"data": [{"type":"appStoreVersions","id":"a","attributes":{"versionString":"1","appVersionState":"X","#
                + #""platform":"MAC_OS"}}]}"#, #"data[0].attributes.platform is "MAC_OS", not "IOS""#
        ),
        (
            #"{"data": [{"type":"appStoreVersions","id":"a","attributes":{"versionString":"1","appVersionState":"X"},"#
                + #""relationships":{"app":{"data":{"type":"apps","id":"7"}}}}]}"#,
            #"data[0].relationships.app.data.id is "7", not "6446998023""#
        ),
        (#"{"data": [], "included": 1}"#, "\"included\" is the number 1"),
    ]

    @Test("what cannot be believed is a fault that says what it held", arguments: lies)
    func refused(_ body: String, _ says: String) {
        let fault = #expect(throws: SourceFault.self) { try ConnectSample.read(body) }
        #expect(fault?.reason.contains(says) == true, "\(fault?.reason ?? "")")
    }

    @Test("an error names its code, its detail and the remedy")
    func errors() throws {
        let now = Timestamp(seconds: 1_784_000_000)
        func fault(
            _ status: Int, _ body: String, date: String? = nil, source: AppStoreConnectSource = ConnectSample.source(),
            retryAfter: Duration? = nil
        ) -> SourceFault {
            AppStoreConnectRefusal(status: status, body: Array(body.utf8), retryAfter: retryAfter, date: date)
                .fault(of: source, at: now)
        }
        let unauthorised = ConnectSample.error(
            401, "NOT_AUTHORIZED", "Authentication credentials are missing or invalid.",
            "Provide a properly configured token")
        let revoked = fault(401, unauthorised)
        #expect(revoked.reason.contains("HTTP 401, NOT_AUTHORIZED: Authentication credentials"))
        #expect(revoked.reason.contains("the key 2X9R4HXF34 may be revoked"))
        #expect(!revoked.isThrottled)
        let individual = fault(
            401, unauthorised, source: ConnectSample.source(.init(issuerID: nil, keyID: "2X9R4HXF34")))
        #expect(individual.reason.contains("a team's key needs `issuerId`"))
        // 1,784,000,000 is 2026-07-14T03:33:20Z.
        let fast = fault(401, unauthorised, date: "Tue, 14 Jul 2026 03:13:20 GMT")
        #expect(fast.reason.contains("this machine's clock is 1200 s fast"))
        #expect(fault(401, unauthorised, date: "Tue, 14 Jul 2026 03:33:50 GMT").reason.contains("may be revoked"))
        let role = ConnectSample.error(
            403, "FORBIDDEN_ERROR", "This request is forbidden for security reasons",
            "The API key in use does not allow this request")
        #expect(
            fault(403, role).reason.contains(
                "the role of the key 2X9R4HXF34 must be one that can view the app 6446998023"))
        let agreement = ConnectSample.error(
            403, "FORBIDDEN.REQUIRED_AGREEMENTS_MISSING_OR_EXPIRED", "A required agreement is missing or has expired.",
            "")
        #expect(fault(403, agreement).reason.contains("the Account Holder must accept the agreement"))
        let missing = ConnectSample.error(
            404, "NOT_FOUND", "The specified resource does not exist", "There is no resource of type 'apps' with id '1'"
        )
        #expect(fault(404, missing).reason.contains("is 6446998023 the app's Apple ID"))
        let often = ConnectSample.error(429, "RATE_LIMIT_EXCEEDED", "The request rate limit has been reached.", "")
        let throttled = fault(429, often, retryAfter: .seconds(40))
        #expect(throttled.isThrottled && throttled.retryAfter == .seconds(40))
        #expect(throttled.reason.contains("RATE_LIMIT_EXCEEDED") && throttled.reason.contains("asked again in 40 s"))
        // Any other document is reported by its status alone; an error's text makes no line of its own.
        #expect(fault(500, "<html>").reason == "App Store Connect answers HTTP 500")
        let nasty = fault(500, ConnectSample.error(500, "X\\n\\u001b[2J", String(repeating: "é", count: 900), ""))
        #expect(!nasty.reason.contains("\u{1B}") && !nasty.reason.contains("\n") && nasty.reason.utf8.count < 1000)
    }

    @Test(
        "X-Rate-Limit",
        arguments: [
            ("user-hour-lim:3500;user-hour-rem:500;", 0), ("user-hour-lim:3500;user-hour-rem:350;", 900),
            ("user-hour-lim:3500; user-hour-rem: 0", 1800),
        ])
    func rate(_ header: String, _ pause: Int64) throws {
        #expect(try #require(AppStoreConnectRate(header)).pause == .seconds(pause))
        for odd in [
            "", "user-hour-lim:3500", "user-hour-lim:0;user-hour-rem:0", "user-hour-lim:x;user-hour-rem:-1", ";;::",
        ] {
            #expect(AppStoreConnectRate(odd) == nil)
        }
    }
}

@Suite("App Store Connect's tokens")
struct ConnectTokenTests {
    static let now = Timestamp(milliseconds: 1_784_000_000_500)

    @Test("one token for a key until it is ten minutes old; it lasts fifteen")
    func lifetime() throws {
        let key = try ES256PrivateKey.generate()
        let tokens = AppStoreConnectTokens()
        let name = AppStoreConnectKey(issuerID: ConnectSample.issuer, keyID: "2X9R4HXF34", pem: key.pem)
        let first = try tokens.token(name, at: Self.now)
        #expect(try tokens.token(name, at: Self.now + .seconds(599)) == first)
        let second = try tokens.token(name, at: Self.now + .seconds(600))
        #expect(second != first)
        // A clock that was set back.
        #expect(try tokens.token(name, at: Self.now) != second)
        let parts = first.split(separator: ".").map(String.init)
        let header = try JSONReader.read(try #require(Base64URL.decode(parts[0])))
        #expect(header == ["alg": .string("ES256"), "kid": .string("2X9R4HXF34"), "typ": .string("JWT")])
        let claims = try JSONReader.read(try #require(Base64URL.decode(parts[1])))
        #expect(
            claims == [
                "iss": .string(ConnectSample.issuer), "iat": .number("1784000000"), "exp": .number("1784000900"),
                "aud": .string("appstoreconnect-v1"),
            ])
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(key.publicKey.isValid(signature, for: Array((parts[0] + "." + parts[1]).utf8)))
    }

    @Test("an individual key says that it is a user's; another key, and one that was refused, get another token")
    func others() throws {
        let tokens = AppStoreConnectTokens()
        var name = AppStoreConnectKey(issuerID: nil, keyID: "2X9R4HXF34", pem: try ES256PrivateKey.generate().pem)
        let first = try tokens.token(name, at: Self.now)
        let claims = try JSONReader.read(try #require(Base64URL.decode(String(first.split(separator: ".")[1]))))
        #expect(claims["sub"] == .string("user") && claims["iss"] == nil)
        tokens.refused("another", of: name)
        #expect(try tokens.token(name, at: Self.now) == first)
        tokens.refused(first, of: name)
        #expect(try tokens.token(name, at: Self.now) != first)
        name.pem = Array("no key".utf8)
        let fault = #expect(throws: SourceFault.self) { try tokens.token(name, at: Self.now) }
        #expect(fault?.reason.hasPrefix("the key 2X9R4HXF34 cannot sign: ") == true)
        #expect("\(name)" == "key 2X9R4HXF34, individual")
    }
}
