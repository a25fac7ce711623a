// SPDX-License-Identifier: Apache-2.0
import Foundation
import PushSimulator
import RelayEngine
import Signing
import Testing
import WireFormat

/// A project with an account, and right requests to it.
struct FCMFixture {
    /// Made once: an RSA key takes a tenth of a second.
    private static let shared = try? FCMProject(projectID: "test-project")
    static let token = "dXNlcg_phone-1:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx"
    static let page = #"{"type":"needUpgrade","userTel":"13800138000","downloadUrl":"https://example.com"}"#
    static let jsonType = Array("application/json".utf8)[...]
    static let formType = Array("application/x-www-form-urlencoded".utf8)[...]

    var project: FCMProject

    init() throws {
        project = try #require(Self.shared)
    }

    static func message(token: String = Self.token, pushID: String = Fixture.id) -> JSONValue {
        [
            "message": [
                "token": .string(token),
                "data": ["page": .string(page), "pushId": .string(pushID)],
                "android": ["priority": .string("high"), "ttl": .string("3600s")],
            ]
        ]
    }

    static func text(_ json: JSONValue) -> String { String(decoding: json.bytes(), as: UTF8.self) }

    /// An assertion by hand. A claim in `claims` replaces the right one; null leaves it out.
    func assertion(
        audience: String, at now: Int64, claims: [String: JSONValue] = [:], algorithm: String = "RS256",
        keyID: String? = nil, signer: RS256PrivateKey? = nil
    ) throws -> String {
        let header: JSONValue = [
            "alg": .string(algorithm), "typ": .string("JWT"), "kid": .string(keyID ?? project.keyID),
        ]
        var all: [String: JSONValue] = [
            "iss": .string(project.email), "scope": .string(GoogleAccount.Scope.firebaseMessaging),
            "aud": .string(audience), "iat": .integer(now - 10), "exp": .integer(now + 3590),
        ]
        all.merge(claims) { $1 }
        let members = all.filter { $0.value != .null }.map { JSONMember(name: $0.key, value: $0.value) }
        let signed = Base64URL.encode(header.bytes()) + "." + Base64URL.encode(JSONValue.object(members).bytes())
        return signed + "." + Base64URL.encode(try (signer ?? project.key).sign(Array(signed.utf8)))
    }
}

extension RunningSimulator {
    /// Asks the token endpoint as the relay's own code does.
    func askForToken(scope: String = GoogleAccount.Scope.firebaseMessaging) throws -> Answer {
        let account = try GoogleAccount(keyFile: try #require(simulator.accountFile))
        let assertion = try account.assertion(for: scope, at: Timestamp(seconds: Fixture.now))
        return Answer(
            try curl(
                [(":path", "/token"), ("content-type", "application/x-www-form-urlencoded")],
                payload: String(decoding: GoogleAccount.tokenRequest(assertion), as: UTF8.self),
                options: ["--http2", "--max-time", "5"]))
    }

    func accessToken(scope: String = GoogleAccount.Scope.firebaseMessaging) throws -> String {
        let answer = try askForToken(scope: scope)
        guard
            case .granted(let token, _) = GoogleTokenAnswer(
                status: answer.code, body: Array(answer.body.utf8), scope: GoogleAccount.Scope.firebaseMessaging)
        else {
            throw SimulatorError("no access token: \(answer)")
        }
        return token
    }

    func push(
        _ json: JSONValue = FCMFixture.message(), access: String?, project: String = "test-project",
        type: String = "application/json", options: [String] = ["--http2"]
    ) throws -> Answer {
        var headers = [(":path", "/v1/projects/\(project)/messages:send"), ("content-type", type)]
        if let access { headers.append(("authorization", "Bearer \(access)")) }
        return Answer(try curl(headers, payload: FCMFixture.text(json), options: options))
    }
}

/// The output of curl with `-D -`.
struct Answer {
    let code: Int
    let head: String
    let body: String

    init(_ result: (status: Int32, output: String, errors: String)) {
        let parts = result.output.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        head = String(parts.first ?? "")
        body = parts.count == 2 ? String(parts[1]) : ""
        code = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
    }

    var json: JSONValue? { try? JSONReader.read(Array(body.utf8)) }
    /// The error's detail of this type.
    func detail(_ type: String) -> JSONValue? {
        json?["error"]?["details"]?.array?.first { $0["@type"]?.string == "type.googleapis.com/\(type)" }
    }
    var errorCode: String? { detail("google.firebase.fcm.v1.FcmError")?["errorCode"]?.string }
    var violation: JSONValue? { detail("google.rpc.BadRequest")?["fieldViolations"]?.array?.first }
}
