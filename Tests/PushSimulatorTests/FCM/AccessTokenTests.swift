// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import Testing
import WireFormat

@testable import PushSimulator

/// The token endpoint, as strict as Google's (PROTOCOLS 2.1).
@Suite struct AccessTokenTests {
    private static let audience = "https://127.0.0.1:2198/token"
    private let fixture: FCMFixture
    private let now: Int64 = 1_800_000_000

    init() throws {
        fixture = try FCMFixture()
    }

    private func office() -> AccessTokens { AccessTokens(fixture.project, audiences: [Self.audience]) }

    private func answer(
        _ assertion: String, in tokens: inout AccessTokens, at moment: Int64? = nil, isRevoked: Bool = false
    ) -> AccessTokens.Answer {
        tokens.answer(
            to: GoogleAccount.tokenRequest(assertion), contentType: FCMFixture.formType, now: moment ?? now, judged: 0,
            isRevoked: isRevoked)
    }

    @Test func theRelaysOwnAssertionIsTaken() throws {
        var tokens = office()
        let account = try GoogleAccount(keyFile: fixture.project.keyFile(tokenURL: Self.audience))
        #expect(account.projectID == "test-project")
        let assertion = try account.assertion(
            for: GoogleAccount.Scope.firebaseMessaging, at: Timestamp(seconds: now))
        let reply = answer(assertion, in: &tokens)
        #expect(reply.status == 200)
        #expect(reply.json?["token_type"]?.string == "Bearer")
        #expect(reply.json?["expires_in"]?.integer == 3599)
        let token = try #require(reply.json?["access_token"]?.string)
        let access = try #require(tokens.given.access(Array(token.utf8)))
        #expect(access.maySend)
        #expect(access.expiresAt == now + 3600)
        #expect(tokens.given.access(Array("ya29.c.foreign".utf8)) == nil)
        #expect(tokens.given.count == 1)
    }

    @Test func aKeyFileMakesTheSameAccount() throws {
        let again = try FCMProject(keyFile: fixture.project.keyFile(tokenURL: Self.audience))
        #expect(again.projectID == fixture.project.projectID)
        #expect(again.email == fixture.project.email)
        #expect(again.keyID == fixture.project.keyID)
        #expect(again.key.pem == fixture.project.key.pem)
        #expect(throws: SimulatorError.self) { try FCMProject(keyFile: Array("{}".utf8)) }
    }

    @Test(
        arguments: [
            (["iss": .string("other@test-project.iam.gserviceaccount.com")], "Invalid grant: account not found"),
            (["iss": .null], "account not found"),
            (
                ["aud": .string("https://oauth2.googleapis.com/token")],
                "The right audience is https://127.0.0.1:2198/token"
            ),
            (["iat": .integer(1_800_000_001)], "Token must be a short-lived token (60 minutes)"),
            (["iat": .integer(1_799_990_000), "exp": .integer(1_800_000_000)], "short-lived"),
            (["exp": .integer(1_800_003_891)], "short-lived"), (["exp": .null], "short-lived"),
            (["iat": .string("1800000000")], "short-lived"),
            (["iat": .integer(Int64.min), "exp": .integer(Int64.max)], "short-lived"),
            (["exp": .integer(Int64.max)], "short-lived"),
        ] as [([String: JSONValue], String)]) func aClaimThatIsWrong(claims: [String: JSONValue], text: String) throws
    {
        var tokens = office()
        let reply = answer(
            try fixture.assertion(audience: Self.audience, at: now, claims: claims), in: &tokens)
        #expect(reply.status == 400)
        #expect(reply.json?["error"]?.string == "invalid_grant")
        #expect(reply.json?["error_description"]?.string?.contains(text) == true, "\(reply)")
        #expect(tokens.given.count == 0)
    }

    /// 65 minutes (PROTOCOLS 2.1).
    @Test func theLongestAssertionIsTaken() throws {
        var tokens = office()
        let claims: [String: JSONValue] = ["exp": .integer(now - 10 + 3900)]
        #expect(
            answer(try fixture.assertion(audience: Self.audience, at: now, claims: claims), in: &tokens).status == 200)
    }

    @Test func aSignatureThatDoesNotHold() throws {
        var tokens = office()
        let right = try fixture.assertion(audience: Self.audience, at: now)
        let wrong = [
            try fixture.assertion(audience: Self.audience, at: now, signer: try RS256PrivateKey.generate()),
            try fixture.assertion(audience: Self.audience, at: now, keyID: "anotherKey"),
        ]
        for assertion in wrong {
            #expect(answer(assertion, in: &tokens).json?["error_description"]?.string == "Invalid JWT Signature.")
        }
        let deleted = answer(right, in: &tokens, isRevoked: true)
        #expect(deleted.json?["error_description"]?.string == "Invalid JWT Signature.")
        #expect(answer(right, in: &tokens).status == 200)
        let other = answer(
            try fixture.assertion(audience: Self.audience, at: now, algorithm: "none"), in: &tokens)
        #expect(other.status == 400)
        #expect(answer("no.jwt", in: &tokens).status == 400)
        #expect(answer("a.b.c", in: &tokens).status == 400)
    }

    @Test(arguments: [
        (GoogleAccount.Scope.firebaseMessaging, true), ("https://www.googleapis.com/auth/cloud-platform", true),
        (GoogleAccount.Scope.androidPublisher, false),
        ("\(GoogleAccount.Scope.androidPublisher) \(GoogleAccount.Scope.firebaseMessaging)", true),
    ]) func aScope(scope: String, maySend: Bool) throws {
        var tokens = office()
        let reply = answer(
            try fixture.assertion(audience: Self.audience, at: now, claims: ["scope": .string(scope)]), in: &tokens)
        let token = try #require(reply.json?["access_token"]?.string)
        #expect(tokens.given.access(Array(token.utf8))?.maySend == maySend)
    }

    @Test(arguments: [JSONValue.null, .string(""), .string("firebase.messaging")]) func noScope(scope: JSONValue) throws
    {
        var tokens = office()
        let reply = answer(
            try fixture.assertion(audience: Self.audience, at: now, claims: ["scope": scope]), in: &tokens)
        #expect(reply.json?["error"]?.string == "invalid_scope")
    }

    @Test(arguments: [
        ("assertion=x", "invalid_request"), ("grant_type=password&assertion=x", "unsupported_grant_type"),
        ("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer", "invalid_request"),
        ("grant_type=a&grant_type=a", "invalid_request"), ("grant_type=%zz", "invalid_request"),
        ("", "invalid_request"),
    ]) func aFormThatIsWrong(form: String, error: String) {
        var tokens = office()
        let reply = tokens.answer(
            to: Array(form.utf8), contentType: FCMFixture.formType, now: now, judged: 0, isRevoked: false)
        #expect(reply.status == 400)
        #expect(reply.json?["error"]?.string == error)
    }

    @Test func formsAreRead() {
        #expect(
            OAuthForm.read(Array("a=b+c&d=%3A%3d&e=".utf8), FCMFixture.formType) == [
                "a": "b c", "d": ":=", "e": "",
            ])
        #expect(
            OAuthForm.read(Array("a=b".utf8), Array("application/x-www-form-urlencoded; charset=utf-8".utf8)[...])
                != nil)
        #expect(OAuthForm.read(Array("a=b".utf8), FCMFixture.jsonType) == nil)
        #expect(OAuthForm.read(Array("a=b".utf8), nil) == nil)
    }
}
