// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
import WireFormat

/// One app in App Store Connect's API (PROTOCOLS 4.1).
package struct AppStoreConnectSource: PacedSource, Hashable {
    package static let apple = "https://api.appstoreconnect.apple.com"
    /// The shortest interval between rounds for one app at Apple. `spacing` limits a key to about a third of its 3,500
    /// questions an hour.
    package static let shortestInterval = Duration.seconds(30)

    /// The app's Apple ID: the number in its address in the store.
    package var appID: Int64
    package var key: AppStoreConnectKey
    /// Default 5 minutes.
    package var every: Duration
    /// Default Apple's; another one is a stand-in for tests. Without a slash at the end.
    package var server: String
    /// The way to the server. The configuration gives only the place of a proxy's password; direct until the password
    /// has been read.
    package var egress: Egress

    package init(
        appID: Int64, key: AppStoreConnectKey, every: Duration = .seconds(300),
        server: String = AppStoreConnectSource.apple, egress: Egress = .direct
    ) {
        self.appID = appID
        self.key = key
        self.every = every
        self.server = server
        self.egress = egress
    }

    private var isApple: Bool { server == Self.apple }

    /// The time between two questions with one key, for all its apps: 1,200 questions an hour at most. The rest of the 3,500 is
    /// for the owner's other tools.
    var spacing: Duration { isApple ? .seconds(3) : .zero }

    /// The shortest time from one round's start to the next, where the store is asked early.
    var shortest: Duration { isApple ? Self.shortestInterval : .zero }

    /// The name that questions are paced by: Apple counts them by key.
    var paceName: String { "\(server) \(key.keyID)" }

    /// The app's page in the store.
    var page: String { "https://apps.apple.com/app/id\(appID)" }

    /// The question, and the edition of the checks that its answer passed: evidence from another query is not used.
    var query: String { "\(list) \(AnswerField.edition)" }

    /// The list of the app's versions, without a query.
    var list: String { "\(server)/v1/apps/\(appID)/appStoreVersions" }
}

/// A key of App Store Connect's API.
package struct AppStoreConnectKey: Hashable, Sendable, CustomStringConvertible {
    /// A team key's issuer; nil for an individual key ("Generating Tokens for API Requests": `sub` instead of `iss`).
    package var issuerID: String?
    package var keyID: String
    /// The .p8 file. Empty until it was read.
    package var pem: [UInt8]

    package init(issuerID: String?, keyID: String, pem: [UInt8] = []) {
        self.issuerID = issuerID
        self.keyID = keyID
        self.pem = pem
    }

    /// Without the secret.
    package var description: String { "key \(keyID)" + (issuerID.map { " of \($0)" } ?? ", individual") }
}
