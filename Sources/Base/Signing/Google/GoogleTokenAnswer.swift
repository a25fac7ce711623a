// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The token endpoint's answer to an assertion (RFC 6749, 5.1 and 5.2).
package enum GoogleTokenAnswer: Hashable, Sendable {
    /// The most bytes of an answer; real ones have about a thousand.
    package static let maximumSize = 1 << 16

    case granted(token: String, lifetime: Duration)
    /// The key, the account or the clock is wrong, and asking again does not help; the text has the reason and a remedy.
    case refused(String)
    /// The endpoint gave no usable answer this time.
    case unavailable(String)

    /// - Parameter scope: the scope that was requested.
    package init(status: Int, body: [UInt8], scope: String) {
        let answer = try? JSONReader.read(body)
        if status == 200 {
            self = Self.grant(answer, scope)
            return
        }
        let error = answer?["error"]?.string
        let description = answer?["error_description"]?.string
        let said = [error, description].compactMap { $0.map { GoogleErrorBody.line($0, limit: 200) } }.joined(
            separator: ": ")
        if status == 429 || status >= 500 || error == nil {
            self = .unavailable("Google's token endpoint answers HTTP \(status)" + (said.isEmpty ? "" : ", \(said)"))
            return
        }
        self = .refused("Google refuses the service account's key (\(said)); \(Self.remedy(error, description))")
    }

    private static func grant(_ answer: JSONValue?, _ scope: String) -> GoogleTokenAnswer {
        guard let token = answer?["access_token"]?.string, !token.isEmpty,
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return .unavailable("Google's token endpoint answers HTTP 200 without an access_token") }
        // "token_type […] Value is case insensitive" (RFC 6749, 5.1); "scope […] if identical to the scope requested" may be left out.
        let type = answer?["token_type"].map { type in type.string.map { JSONValue.string($0.lowercased()) } ?? type }
        let scopes = answer?["scope"].map { scopes in
            scopes.string.map {
                $0.split(separator: " ", maxSplits: 64).contains(scope[...]) ? JSONValue.string(scope) : scopes
            }
                ?? scopes
        }
        if let fault = AnswerField.tokenType.fault(type, wanted: ["bearer"])
            ?? AnswerField.tokenScope.fault(scopes, wanted: [scope]) ?? lifetimeFault(answer?["expires_in"])
        {
            return .unavailable("Google's token endpoint answers HTTP 200 with a token of no use: \(fault)")
        }
        // `expires_in` is only "RECOMMENDED" (RFC 6749, 5.1); without it 10 minutes are assumed. No token is kept beyond a day.
        let seconds = answer?["expires_in"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } } ?? 600
        return .granted(token: token, lifetime: .seconds(min(max(seconds, 0), 86_400)))
    }

    private static func lifetimeFault(_ value: JSONValue?) -> String? {
        guard let value, value != .null else { return nil }
        let seconds = value.integer ?? value.string.flatMap { Int64($0) }
        return seconds.map { $0 > 0 } ?? false
            ? nil : "\(AnswerField.tokenLifetime.field) is \(value.sight), not a number of seconds above 0"
    }

    private static func remedy(_ error: String?, _ description: String?) -> String {
        let text = (description ?? "").lowercased()
        switch error {
        case "invalid_grant"? where text.contains("signature"):
            return
                "the key was deleted, or is of another account: make a new one in Google Cloud and put its file in place"
        case "invalid_grant"? where text.contains("short-lived") || text.contains("timeframe"):
            return "this machine's clock is wrong: set it (timedatectl)"
        case "invalid_grant"? where text.contains("account"), "deleted_client"?:
            return "the account was deleted: make another one with a key of its own"
        case "invalid_grant"?:
            return "the key or the account was deleted, or this machine's clock is wrong"
        case "disabled_client"?, "invalid_client"?, "unauthorized_client"?:
            return "is the account disabled in Google Cloud?"
        case "invalid_scope"?:
            return "does the account's organisation allow this API?"
        default: return "look at the account in Google Cloud"
        }
    }
}
