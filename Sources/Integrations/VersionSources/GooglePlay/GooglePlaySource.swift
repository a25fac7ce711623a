// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import Signing
import WireFormat

/// One track of an app in Google Play, asked through the Google Play Developer API (PROTOCOLS 4.2).
package struct GooglePlaySource: Hashable, Sendable {
    package static let google = "https://androidpublisher.googleapis.com"
    /// "2.1.0", and the name that Play Console makes of a version code and a name: "210 (2.1.0)". A name without a dot may be a
    /// version code, or a date; versions only rise, so a wrong one would stay.
    package static let namePattern = TagPattern(known: #"^(?:\d+ \()?v?(\d+(?:\.\d+)+)\)?$"#)

    package var packageName: String
    package var track: String
    /// How a release's name holds a version.
    package var namePattern: TagPattern
    /// How a release's name holds the oldest OS version that it runs on, an API level; nil: it does not.
    package var minimumOSPattern: TagPattern?
    /// Default 10 minutes.
    package var every: Duration
    /// Default Google's; another one is the owner's own, for tests.
    package var server: String
    /// The way to Google. The configuration gives only the place of a proxy's password; direct until the password has been read.
    package var egress: Egress
    /// The account that Google sees. The configuration gives only the place of its key; nil until the key has been read.
    package var account: GoogleAccount?

    package init(
        packageName: String, track: String = "production", namePattern: TagPattern = GooglePlaySource.namePattern,
        minimumOSPattern: TagPattern? = nil,
        every: Duration = .seconds(600), server: String = GooglePlaySource.google, egress: Egress = .direct,
        account: GoogleAccount? = nil
    ) {
        self.packageName = packageName
        self.track = track
        self.namePattern = namePattern
        self.minimumOSPattern = minimumOSPattern
        self.every = every
        self.server = server
        self.egress = egress
        self.account = account
    }

    /// The shortest time between edits while a requirement hangs on a staged rollout.
    var editPace: Duration { every * 3 }

    /// The app's page in the store.
    var page: String { "https://play.google.com/store/apps/details?id=\(packageName)" }

    private var app: String { "\(server)/androidpublisher/v3/applications/\(Self.escaped(packageName))" }
    var releasesAddress: String { "\(app)/tracks/\(Self.escaped(track))/releases" }
    /// The question, the patterns and the edition of the checks: another pattern would read other versions from the same names.
    var query: String {
        ([releasesAddress, namePattern.text] + (minimumOSPattern.map { [$0.text] } ?? []) + [AnswerField.edition])
            .joined(separator: " ")
    }
    var editsAddress: String { "\(app)/edits" }
    func editAddress(_ edit: String) -> String { "\(editsAddress)/\(Self.escaped(edit))" }
    func trackAddress(_ edit: String) -> String { "\(editAddress(edit))/tracks/\(Self.escaped(track))" }

    /// The text escaped as a path segment (RFC 3986, 3.3). A form factor's track has a colon: "wear:production".
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x3A:
                String(UnicodeScalar(byte))
            default: "%" + String(byte >> 4, radix: 16, uppercase: true) + String(byte & 15, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
