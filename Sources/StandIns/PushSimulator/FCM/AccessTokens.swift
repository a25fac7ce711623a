// SPDX-License-Identifier: Apache-2.0
import Signing
import WireFormat

/// Google's token endpoint for one service account (RFC 7523; PROTOCOLS 2.1). Reads no clock: the time is passed in. Pure except
/// for the random bytes of tokens.
struct AccessTokens {
    struct Answer: Equatable {
        var status: UInt16
        /// nil: the body is a page for people.
        var json: JSONValue?
    }

    /// The scopes that allow sending. The endpoint grants others too, but their tokens cannot send.
    private static let sending: Set<String> = [
        "https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform",
    ]
    private static let scopePrefix = "https://www.googleapis.com/auth/"
    /// The most seconds from `iat` to `exp`: an hour, and five minutes for clocks that differ.
    static let longestAssertion: Int64 = 3900

    private let project: FCMProject
    /// The URLs by which it is reached; the first is the one in the key file.
    private let audiences: [String]
    private(set) var given = GivenTokens()
    /// The number of requests for a token.
    private(set) var asked = 0

    init(_ project: FCMProject, audiences: [String]) {
        self.project = project
        self.audiences = audiences
    }

    /// Follows the script's count, which begins anew.
    mutating func forgetCount() {
        asked = 0
        given.forgetCount()
    }

    // MARK: The endpoint

    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - judged: pushes that the script has counted.
    ///   - isRevoked: whether the account's key has been deleted.
    mutating func answer(
        to body: [UInt8], contentType: ArraySlice<UInt8>?, now: Int64, judged: Int, isRevoked: Bool
    ) -> Answer {
        asked += 1
        guard let form = OAuthForm.read(body, contentType), form["grant_type"] != nil else {
            return Self.refusal("invalid_request", "Required parameter is missing: grant_type")
        }
        guard form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" else {
            return Self.refusal("unsupported_grant_type", "Invalid grant_type: \(form["grant_type"] ?? "")")
        }
        guard let assertion = form["assertion"], !assertion.isEmpty else {
            return Self.refusal("invalid_request", "Required parameter is missing: assertion")
        }
        switch verify(assertion, now: now, isRevoked: isRevoked) {
        case .failure(let refusal): return Self.refusal(refusal.error, refusal.description)
        case .success(let maySend): return grant(maySend: maySend, now: now, judged: judged)
        }
    }

    /// The script's answer, whatever the request holds.
    mutating func answer(_ fault: FaultScript.TokenEndpointFault) -> Answer {
        asked += 1
        guard let error = fault.error else { return Answer(status: UInt16(fault.status ?? 503), json: nil) }
        var answer = Self.refusal(error, fault.description ?? "")
        answer.status = UInt16(fault.status ?? 400)
        return answer
    }

    private mutating func grant(maySend: Bool, now: Int64, judged: Int) -> Answer {
        let access = GivenTokens.Access(
            expiresAt: now + project.tokenLifetime, maySend: maySend, judgedBefore: judged)
        let token = given.give("ya29.c.", access, now: now)
        // Google reports a second less than the token lasts.
        let json: JSONValue = [
            "access_token": .string(token), "expires_in": .integer(max(0, project.tokenLifetime - 1)),
            "token_type": .string("Bearer"),
        ]
        return Answer(status: 200, json: json)
    }

    private static func refusal(_ error: String, _ description: String) -> Answer {
        Answer(status: 400, json: ["error": .string(error), "error_description": .string(description)])
    }

    // MARK: Assertions

    private struct Refusal: Error {
        var error = "invalid_grant"
        var description: String
    }

    /// - Returns: whether its scopes are enough to send.
    private func verify(_ assertion: String, now: Int64, isRevoked: Bool) -> Result<Bool, Refusal> {
        func refuse(_ description: String) -> Result<Bool, Refusal> { .failure(Refusal(description: description)) }
        let parts = assertion.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { return refuse("Invalid JWT: Failed to parse the JWT.") }
        guard header["alg"]?.string == "RS256" else { return refuse("Invalid JWT: Unsupported algorithm.") }
        guard claims["iss"]?.string == project.email else { return refuse("Invalid grant: account not found") }
        let keyID = header["kid"]?.string
        guard !isRevoked, keyID == nil || keyID == project.keyID,
            project.key.isValid(signature, for: Array((parts[0] + "." + parts[1]).utf8))
        else { return refuse("Invalid JWT Signature.") }
        guard let audience = claims["aud"]?.string, audiences.contains(audience) else {
            return refuse("Invalid JWT: Failed audience check. The right audience is \(audiences.first ?? "")")
        }
        // The difference of two numbers that are not negative cannot overflow.
        guard let issued = claims["iat"]?.integer, let expires = claims["exp"]?.integer, issued <= now, now < expires,
            issued >= 0, expires - issued <= Self.longestAssertion
        else {
            return refuse(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat "
                    + "and exp values in the JWT claim.")
        }
        let scopes = (claims["scope"]?.string ?? "").split(separator: " ").map(String.init)
        guard !scopes.isEmpty, scopes.allSatisfy({ $0.hasPrefix(Self.scopePrefix) }) else {
            return .failure(
                Refusal(
                    error: "invalid_scope",
                    description: "Invalid OAuth scope or ID token audience provided."))
        }
        return .success(!Self.sending.isDisjoint(with: scopes))
    }

    private static func json(_ part: String) -> JSONValue? {
        guard let bytes = Base64URL.decode(part), let value = try? JSONReader.read(bytes), value.object != nil else {
            return nil
        }
        return value
    }
}
