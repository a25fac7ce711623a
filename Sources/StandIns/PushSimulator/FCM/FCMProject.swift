// SPDX-License-Identifier: Apache-2.0
package import Signing
import WireFormat

/// A project of Firebase with one service account that may send in it.
package struct FCMProject: Sendable {
    package var projectID: String
    package var email: String
    /// `kid` of the assertions.
    package var keyID: String
    /// The account's key. The simulator needs its public half; the client that pushes needs all of it.
    package var key: RS256PrivateKey
    /// The seconds that an access token lasts (PROTOCOLS 2.1).
    package var tokenLifetime: Int64 = 3600
    /// Names under which clients reach the token endpoint, besides those of the loopback addresses. Default none.
    package var otherHosts: [String] = []

    /// A new account with a new key. Throws `SigningError`.
    package init(projectID: String = "upgrade-relay-demo") throws {
        self.projectID = projectID
        email = "simulator@\(projectID).iam.gserviceaccount.com"
        keyID = Hex.encode(try RandomBytes.make(20))
        key = try RS256PrivateKey.generate()
    }

    /// The account of a key file that a simulator has written. Throws `SimulatorError`, `SigningError` or `JSONSyntaxError`.
    package init(keyFile bytes: [UInt8]) throws {
        let file = try JSONReader.read(bytes)
        guard let project = file["project_id"]?.string, let email = file["client_email"]?.string,
            let keyID = file["private_key_id"]?.string, let key = file["private_key"]?.string
        else {
            throw SimulatorError(
                "project_id, client_email, private_key_id and private_key are needed, each as a string")
        }
        projectID = project
        self.email = email
        self.keyID = keyID
        self.key = try RS256PrivateKey(pem: Array(key.utf8))
    }

    /// The key file that Google gives for a service account. A secret.
    package func keyFile(tokenURL: String) -> [UInt8] {
        let file: JSONValue = [
            "type": .string("service_account"), "project_id": .string(projectID), "private_key_id": .string(keyID),
            "private_key": .string(String(decoding: key.pem, as: UTF8.self)), "client_email": .string(email),
            "client_id": .string("100000000000000000000"), "token_uri": .string(tokenURL),
            "universe_domain": .string("googleapis.com"),
        ]
        return file.bytes(isPretty: true) + [UInt8(ascii: "\n")]
    }

    package static func tokenURL(host: String, port: UInt16) -> String { "https://\(host):\(port)/token" }
}
