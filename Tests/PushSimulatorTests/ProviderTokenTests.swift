// SPDX-License-Identifier: Apache-2.0
import PushSimulator
import Signing
import Testing

@Suite struct ProviderTokenTests {
    private let fixture: Fixture
    private let other: ES256PrivateKey
    private let now: Int64 = 1_800_000_000

    init() throws {
        fixture = try Fixture()
        other = try ES256PrivateKey.generate()
    }

    /// Judges the requests of one connection, each with its authorization value and its time.
    private func judge(_ requests: [(String, Int64)]) -> [Verdict] {
        var check = RequestCheck(
            topics: [Fixture.topic], teamID: Fixture.teamID,
            keys: [Fixture.keyID: fixture.key.publicKey, "OTHER12345": other.publicKey])
        var credential = ConnectionCredential()
        let payload = Array(Fixture.payload.utf8)
        return requests.map { authorization, now in
            var headers = fixture.headers(jwt: "").filter { $0.0 != "authorization" }
            headers.append(("authorization", authorization))
            return check.judge(
                RequestHeaders(headers), payload: payload, payloadSize: payload.count, credential: &credential, now: now
            )
        }
    }

    @Test func theSchemeIsCaseInsensitive() throws {
        let jwt = try fixture.jwt(issuedAt: now)
        #expect(judge([("Bearer \(jwt)", now)]) == [.accepted])
        #expect(judge([("BEARER \(jwt)", now)]) == [.accepted])
        #expect(judge([(jwt, now)]) == [.rejected(.invalidProviderToken)])
        #expect(judge([("basic \(jwt)", now)]) == [.rejected(.invalidProviderToken)])
    }

    @Test(arguments: [
        (#"{"alg":"none","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":1800000000}"#),
        (#"{"alg":"HS256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":1800000000}"#),
        (#"{"kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":1800000000}"#),
        (#"{"alg":"ES256"}"#, #"{"iss":"TEAM123456","iat":1800000000}"#),
        (#"{"alg":"ES256","kid":"UNKNOWN123"}"#, #"{"iss":"TEAM123456","iat":1800000000}"#),
        (#"{"alg":"ES256","kid":"OTHER12345"}"#, #"{"iss":"TEAM123456","iat":1800000000}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM654321","iat":1800000000}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iat":1800000000}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456"}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, #"{"iss":"TEAM123456","iat":"1800000000"}"#),
        (#"{"alg":"ES256","kid":"KEY1234567"}"#, "no json"),
    ])
    func wrongContents(header: String, claims: String) throws {
        let jwt = try fixture.jwt(header: header, claims: claims)
        #expect(judge([("bearer \(jwt)", now)]) == [.rejected(.invalidProviderToken)])
    }

    @Test func wrongForms() throws {
        let jwt = try fixture.jwt(issuedAt: now)
        let forged = try fixture.jwt(issuedAt: now, signer: other)
        let parts = jwt.split(separator: ".")
        for text in ["", "a", "a.b", jwt + ".x", jwt + "=", forged, "\(parts[0]).\(parts[1])."] {
            #expect(judge([("bearer \(text)", now)]) == [.rejected(.invalidProviderToken)], "\(text)")
        }
    }

    @Test func theAgeIsCheckedEachTime() throws {
        let value = "bearer \(try fixture.jwt(issuedAt: now))"
        #expect(
            judge([(value, now), (value, now + 3600), (value, now + 3601)]) == [
                .accepted, .accepted, .rejected(.expiredProviderToken),
            ])
        #expect(judge([(value, now - 300), (value, now)]) == [.accepted, .accepted])
        #expect(judge([(value, now - 301)]) == [.rejected(.invalidProviderToken)])
    }

    @Test(arguments: [Int64.min, Int64.min + 1, -1, Int64.max - 1, Int64.max])
    func anAgeThatNoClockHasIsRefused(issuedAt: Int64) throws {
        let value = "bearer \(try fixture.jwt(issuedAt: issuedAt))"
        #expect(judge([(value, now), (value, now)]) == Array(repeating: .rejected(.invalidProviderToken), count: 2))
    }

    @Test func aConnectionThatSawAnExpiredTokenRefusesEveryOther() throws {
        let old = "bearer \(try fixture.jwt(issuedAt: now))"
        let new = "bearer \(try fixture.jwt(issuedAt: now + 3_601))"
        #expect(
            judge([(old, now), (old, now + 3_601), (new, now + 3_601)]) == [
                .accepted, .rejected(.expiredProviderToken), .rejected(.expiredProviderToken),
            ])
        #expect(judge([(new, now + 3_601)]) == [.accepted], "a new connection takes it")
    }

    @Test func aNewTokenWithinTwentyMinutesIsOneTooMany() throws {
        let first = "bearer \(try fixture.jwt(issuedAt: now))"
        let second = "bearer \(try fixture.jwt(issuedAt: now + 1199))"
        let third = "bearer \(try fixture.jwt(issuedAt: now + 1200))"
        #expect(
            judge([
                (first, now), (second, now + 1199), (first, now + 1199), (third, now + 1200), (third, now + 1300),
            ]) == [.accepted, .rejected(.tooManyProviderTokenUpdates), .accepted, .accepted, .accepted])
    }

    @Test func theSameClaimsSignedAgainAreNoUpdate() throws {
        let first = "bearer \(try fixture.jwt(issuedAt: now))"
        let again = "bearer \(try fixture.jwt(issuedAt: now))"
        #expect(first != again)
        #expect(judge([(first, now), (again, now + 1)]) == [.accepted, .accepted])
    }

    @Test func aConnectionBelongsToItsFirstKey() throws {
        let first = "bearer \(try fixture.jwt(issuedAt: now))"
        let second =
            "bearer \(try fixture.jwt(issuedAt: now, header: #"{"alg":"ES256","kid":"OTHER12345"}"#, signer: other))"
        #expect(judge([(first, now), (second, now)]) == [.accepted, .rejected(.unrelatedKeyID)])
        #expect(judge([(second, now)]) == [.accepted])
    }
}
