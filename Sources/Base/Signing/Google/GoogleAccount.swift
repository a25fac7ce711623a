// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import WireFormat

/// A service account of Google Cloud, as its key file describes it. It signs the assertions that the token endpoint
/// exchanges for an access token (RFC 7523; PROTOCOLS 2.1).
package struct GoogleAccount: Hashable, Sendable, CustomStringConvertible {
    /// The purpose of an access token; the endpoint takes several, separated by a space.
    package enum Scope {
        package static let androidPublisher = "https://www.googleapis.com/auth/androidpublisher"
        package static let firebaseMessaging = "https://www.googleapis.com/auth/firebase.messaging"
    }

    /// The lifetime of an assertion: Google accepts an hour at most.
    package static let assertionLifetime = Duration.seconds(3600)
    /// Google refuses assertions from the future, and clocks differ: `iat` is set this far back, as in golang/oauth2.
    package static let clockAllowance = Duration.seconds(10)
    package static let tokenEndpoint = "https://oauth2.googleapis.com/token"

    package let email: String
    /// nil where the file does not name it.
    package let projectID: String?
    package let keyID: String?
    /// The endpoint that exchanges assertions; also their audience.
    package let tokenURL: String
    private let key: RS256PrivateKey

    /// Reads the JSON file that Google gives for a key of a service account.
    ///
    /// - Throws: `SigningError` that completes "the file …: ".
    package init(keyFile bytes: [UInt8]) throws(SigningError) {
        let file = try Self.json(bytes)
        if let wrong = Self.mistaken(file) { throw SigningError(.wrongKind, wrong) }
        email = try Self.text("client_email", in: file)
        projectID = file["project_id"]?.string
        keyID = file["private_key_id"]?.string
        tokenURL = file["token_uri"]?.string ?? Self.tokenEndpoint
        guard tokenURL.hasPrefix("https://"), tokenURL.utf8.count > 8, tokenURL.utf8.count <= 2048,
            tokenURL.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !tokenURL.contains("@")
        else {
            throw SigningError(.invalid, "its token_uri is no https address; Google's is \"\(Self.tokenEndpoint)\"")
        }
        let pem = try Self.text("private_key", in: file)
        do {
            key = try RS256PrivateKey(pem: Array(pem.utf8))
        } catch {
            throw SigningError(.unreadable, "its private_key: \(error)")
        }
    }

    /// A JWT that the token endpoint accepts, also repeatedly, until it expires.
    ///
    /// - Throws: `SigningError`.
    package func assertion(for scope: String, at now: Timestamp) throws -> String {
        let issued = (now - Self.clockAllowance).seconds
        let header: JSONValue = [
            "alg": .string("RS256"), "typ": .string("JWT"), "kid": keyID.map(JSONValue.string),
        ]
        let claims: JSONValue = [
            "iss": .string(email), "scope": .string(scope), "aud": .string(tokenURL), "iat": .integer(issued),
            "exp": .integer(issued + Self.assertionLifetime.components.seconds),
        ]
        let signed = Base64URL.encode(header.bytes()) + "." + Base64URL.encode(claims.bytes())
        return signed + "." + Base64URL.encode(try key.sign(Array(signed.utf8)))
    }

    /// The body of the POST that exchanges an assertion, of the type `application/x-www-form-urlencoded`. Only the grant type's
    /// colons need escapes.
    package static func tokenRequest(_ assertion: String) -> [UInt8] {
        Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8)
    }

    /// Whether assertions go to Google, or to the host of `server`.
    package func provesItself(toGoogleOr server: String) -> Bool {
        let host = Self.host(of: tokenURL)
        return host == Self.host(of: server) || [".googleapis.com", ".google.com"].contains { host.hasSuffix($0) }
    }

    /// In lower case; an IPv6 address keeps its opening bracket.
    private static func host(of address: String) -> String {
        let rest = address.lowercased().split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let place = (rest.last ?? "").prefix { !"/?#".contains($0) }
        return String(place.hasPrefix("[") ? place.prefix { $0 != "]" } : place.prefix { $0 != ":" })
    }

    package var description: String { "service account \(email)" }

    package static func == (left: GoogleAccount, right: GoogleAccount) -> Bool {
        left.email == right.email && left.projectID == right.projectID && left.keyID == right.keyID
            && left.tokenURL == right.tokenURL && left.key.pem == right.key.pem
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(email)
        hasher.combine(keyID)
    }

    // MARK: Reading

    private static func json(_ file: [UInt8]) throws(SigningError) -> JSONValue {
        let bytes: [UInt8]
        do throws(TextFile.Fault) {
            bytes = try TextFile.utf8(file)
        } catch {
            throw SigningError(.unreadable, "it \(error)")
        }
        // A PKCS #12 file begins with a DER sequence.
        if bytes.first == 0x30 {
            throw SigningError(.wrongKind, "it is a .p12 file, not the JSON one; make a key of the type JSON")
        }
        if bytes.starts(with: "-----BEGIN".utf8) {
            throw SigningError(
                .wrongKind,
                "it is a PEM file; Google's JSON file is needed whole, because it names the account too")
        }
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONReader.read(bytes)
        } catch {
            throw SigningError(.unreadable, "it is not the JSON file of a service account: \(error)")
        }
        guard value.object != nil else {
            throw SigningError(.unreadable, "it is not the JSON file of a service account: an object is needed")
        }
        return value
    }

    /// Recognises Google's other files that people take for this one.
    private static func mistaken(_ file: JSONValue) -> String? {
        if file["installed"] != nil || file["web"] != nil {
            return "it is an OAuth client's file, with which people sign in; a service account's key is needed"
        }
        if file["project_info"] != nil {
            return "it is the app's google-services.json; a service account's key is needed"
        }
        switch file["type"]?.string {
        case "service_account"?: return nil
        case let type?:
            return "its type is \(JSONValue.string(type).sight); the key of a \"service_account\" is needed"
        case nil: return "it has no \"type\"; the key of a \"service_account\" is needed"
        }
    }

    private static func text(_ name: String, in file: JSONValue) throws(SigningError) -> String {
        guard let text = file[name]?.string, !text.isEmpty else {
            throw SigningError(.invalid, "it has no \"\(name)\"; download the key anew")
        }
        return text
    }
}
