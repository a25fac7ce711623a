// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import UpgradeRules

@testable import VersionSources

/// Documents in the shape of App Store Connect's own (Apple, "List all app store versions for an app").
enum ConnectSample {
    static let appID: Int64 = 6_446_998_023
    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

    static func source(
        _ key: AppStoreConnectKey = .init(issuerID: issuer, keyID: "2X9R4HXF34"), every: Duration = .seconds(300),
        server: String = AppStoreConnectSource.apple, trusted: String? = nil
    ) -> AppStoreConnectSource {
        AppStoreConnectSource(appID: appID, key: key, every: every, server: server, trustedCertificates: trusted)
    }

    struct Listed {
        var version: String
        var state = "READY_FOR_DISTRIBUTION"
        /// nil: there is none.
        var phase: String?
        /// Whether the answer says so: without it the relationship has links alone.
        var isIncluded = true
        var id: String { "2395b439-fccd-4645-95bc-\(version)".replacing(".", with: "-") }
        var more = ""
    }

    static func page(
        _ versions: [Listed], server: String = AppStoreConnectSource.apple, next: String? = nil, appID: Int64 = appID
    ) -> String {
        let list = "\(server)/v1/apps/\(appID)/appStoreVersions"
        let data = versions.map { listed in
            let links = #""links": {"related": "\#(server)/v1/appStoreVersions/\#(listed.id)/x"}"#
            let linked =
                listed.phase.map { _ in #"{"type": "appStoreVersionPhasedReleases", "id": "p-\#(listed.id)"}"# }
                ?? "null"
            let relationship = listed.isIncluded ? #"{"data": \#(linked), \#(links)}"# : "{\(links)}"
            return #"""
                {"type": "appStoreVersions", "id": "\#(listed.id)",
                 "attributes": {"platform": "IOS", "versionString": "\#(listed.version)",
                   "appVersionState": "\#(listed.state)", "copyright": "2022 YNC", "releaseType": "MANUAL",
                   "earliestReleaseDate": null, "createdDate": "2022-08-31T09:28:28-07:00"\#(listed.more)},
                 "relationships": {"appStoreVersionPhasedRelease": \#(relationship)},
                 "links": {"self": "\#(server)/v1/appStoreVersions/\#(listed.id)"}}
                """#
        }
        let included = versions.compactMap { listed in
            listed.phase.map { phase in
                #"""
                {"type": "appStoreVersionPhasedReleases", "id": "p-\#(listed.id)",
                 "attributes": {"phasedReleaseState": "\#(phase)", "startDate": "2026-11-20T17:00:00Z",
                   "totalPauseDuration": 0, "currentDayNumber": 2}}
                """#
            }
        }
        let nextLink = next.map { #", "next": "\#($0)""# } ?? ""
        return #"""
            {"data": [\#(data.joined(separator: ","))], "included": [\#(included.joined(separator: ","))],
             "links": {"self": "\#(list)?limit=200"\#(nextLink)},
             "meta": {"paging": {"total": \#(versions.count), "limit": 200}}}
            """#
    }

    static func phase(_ state: String) -> String {
        #"{"data": {"type": "appStoreVersionPhasedReleases", "id": "p", "attributes": {"phasedReleaseState": "\#(state)"}}}"#
    }

    static func error(_ status: Int, _ code: String, _ title: String, _ detail: String) -> String {
        #"""
        {"errors": [{"id": "d2f0c5f6-7d43-4b8a-9c3e-1f0b7a3c9d11", "status": "\#(status)", "code": "\#(code)",
         "title": "\#(title)", "detail": "\#(detail)"}]}
        """#
    }

    static func read(_ text: String) throws -> AppStoreConnectPage {
        try AppStoreConnectAnswer.page(Array(text.utf8), of: source())
    }
}
