// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import Testing
import WireFormat

@Suite struct GoogleAccountTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    /// The key file as Google Cloud writes it.
    ///
    /// - Parameter changes: by name; nil leaves the member out.
    static func file(_ key: RS256PrivateKey, _ changes: [String: JSONValue?] = [:]) -> [UInt8] {
        let texts: [(String, String)] = [
            ("type", "service_account"), ("project_id", "example-project"),
            ("private_key_id", "0123456789abcdef0123456789abcdef01234567"),
            ("private_key", String(decoding: key.pem, as: UTF8.self)),
            ("client_email", "relay@example-project.iam.gserviceaccount.com"), ("client_id", "123456789012345678901"),
            ("auth_uri", "https://accounts.google.com/o/oauth2/auth"),
            ("token_uri", "https://oauth2.googleapis.com/token"), ("universe_domain", "googleapis.com"),
        ]
        let members = texts.compactMap { name, text -> JSONMember? in
            (changes[name] ?? .string(text)).map { JSONMember(name: name, value: $0) }
        }
        return JSONValue.object(members).bytes(isPretty: true)
    }

    @Test func anAssertionSaysWhatGoogleWantsAndIsSigned() throws {
        let key = try RS256PrivateKey.generate()
        let account = try GoogleAccount(keyFile: Self.file(key))
        #expect(account.email == "relay@example-project.iam.gserviceaccount.com")
        #expect(account.projectID == "example-project" && account.tokenURL == GoogleAccount.tokenEndpoint)
        let text = try account.assertion(for: GoogleAccount.Scope.androidPublisher, at: Self.now)
        let parts = text.split(separator: ".").map(String.init)
        #expect(parts.count == 3)
        let header = try JSONReader.read(#require(Base64URL.decode(parts[0])))
        #expect(
            header == [
                "alg": .string("RS256"), "typ": .string("JWT"),
                "kid": .string("0123456789abcdef0123456789abcdef01234567"),
            ] as JSONValue)
        let claims = try JSONReader.read(#require(Base64URL.decode(parts[1])))
        #expect(
            claims == [
                "iss": .string("relay@example-project.iam.gserviceaccount.com"),
                "scope": .string("https://www.googleapis.com/auth/androidpublisher"),
                "aud": .string("https://oauth2.googleapis.com/token"),
                "iat": .integer(1_799_999_990), "exp": .integer(1_800_003_590),
            ] as JSONValue)
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(key.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8)))
        let body = String(decoding: GoogleAccount.tokenRequest(text), as: UTF8.self)
        #expect(body == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(text)")
    }

    @Test func theSameFileIsTheSameAccountAndShowsNoKey() throws {
        let key = try RS256PrivateKey.generate()
        let account = try GoogleAccount(keyFile: Self.file(key))
        #expect(try GoogleAccount(keyFile: Self.file(key)) == account)
        #expect(try GoogleAccount(keyFile: Self.file(RS256PrivateKey.generate())) != account)
        #expect(try GoogleAccount(keyFile: Self.file(key, ["private_key_id": .some(.string("2"))])) != account)
        #expect("\(account)" == "service account relay@example-project.iam.gserviceaccount.com")
        // With the required fields alone: without an id and a token_uri of its own.
        let bare = try GoogleAccount(keyFile: Self.file(key, ["token_uri": nil, "private_key_id": nil]))
        #expect(bare.tokenURL == GoogleAccount.tokenEndpoint)
        #expect(
            try bare.assertion(for: "s", at: Self.now).hasPrefix(
                Base64URL.encode(Array(#"{"alg":"RS256","typ":"JWT"}"#.utf8)) + "."))
    }

    @Test func aWrongFileIsNamed() throws {
        let key = try RS256PrivateKey.generate()
        let table: [([UInt8], String)] = [
            ([0x30, 0x82, 0x01], "a .p12 file"), (key.pem, "a PEM file"), (Array("geheim".utf8), "at byte 1"),
            (Array("[]".utf8), "an object is needed"),
            (Array(#"{"installed":{}}"#.utf8), "an OAuth client's file"),
            (Array(#"{"project_info":{}}"#.utf8), "google-services.json"),
            (Array(#"{"type":"authorized_user"}"#.utf8), #"its type is "authorized_user""#),
            (Array("{}".utf8), #"no "type""#),
            (Self.file(key, ["client_email": nil]), #"no "client_email""#),
            (Self.file(key, ["private_key": nil]), #"no "private_key""#),
            (Self.file(key, ["private_key": .some(.string("geheim"))]), "its private_key: no private key found"),
            (Self.file(key, ["private_key": .some(.string(TestKeys.rsa))]), "1024 bits is too short"),
            (
                Self.file(key, ["token_uri": .some(.string("http://oauth2.example/token"))]),
                "its token_uri is no https address"
            ),
        ]
        for (bytes, text) in table {
            let error = try #require(throws: SigningError.self) { try GoogleAccount(keyFile: bytes) }
            #expect(error.description.contains(text), "\(error)")
            #expect(!error.description.contains("geheim"))
        }
    }

    @Test(arguments: [
        (200, #"{"access_token":"ya29.c","expires_in":3599,"token_type":"Bearer"}"#, "granted"),
        (200, #"{"access_token":"ya29.c","token_type":"Bearer"}"#, "granted"),
        (200, #"{"access_token":"a b"}"#, "unavailable"), (200, "<html>", "unavailable"), (200, "", "unavailable"),
        (400, #"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#, "the key was deleted"),
        (
            400,
            #"{"error":"invalid_grant","error_description":"Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."}"#,
            "this machine's clock is wrong"
        ),
        (
            400, #"{"error":"invalid_grant","error_description":"Invalid grant: account not found"}"#,
            "account was deleted"
        ),
        (
            401, #"{"error":"deleted_client","error_description":"The OAuth client was deleted."}"#,
            "account was deleted"
        ),
        (400, #"{"error":"invalid_scope","error_description":"\u001b[2J"}"#, "does the account's organisation"),
        (400, "nonsense", "unavailable"), (500, #"{"error":"internal_failure"}"#, "unavailable"),
        (503, "", "unavailable"), (429, #"{"error":"rate"}"#, "unavailable"),
    ])
    func theTokenEndpointsAnswersAreTold(status: Int, body: String, says: String) {
        switch GoogleTokenAnswer(
            status: status, body: Array(body.utf8), scope: GoogleAccount.Scope.firebaseMessaging)
        {
        case .granted(let token, let lifetime):
            #expect(says == "granted" && token == "ya29.c")
            #expect(lifetime == .seconds(body.contains("3599") ? 3599 : 600))
        case .refused(let reason):
            #expect(reason.contains(says), "\(reason)")
            #expect(!reason.unicodeScalars.contains { $0.value < 0x20 })
        case .unavailable(let reason):
            #expect(says == "unavailable" && reason.contains("HTTP \(status)"), "\(reason)")
        }
    }
}
