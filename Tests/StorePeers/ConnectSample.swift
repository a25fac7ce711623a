// SPDX-License-Identifier: Apache-2.0
/// Documents in the shape of App Store Connect's own (Apple, "List all app store versions for an app").
package enum ConnectSample {
    package static let apple = "https://api.appstoreconnect.apple.com"
    package static let appID: Int64 = 6_446_998_023
    package static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

    package struct Listed {
        package var version: String
        package var state: String
        /// nil: there is none.
        package var phase: String?
        /// Whether the answer includes the phased release: without it the relationship has links alone.
        package var isIncluded: Bool
        package var id: String { "2395b439-fccd-4645-95bc-\(version)".replacing(".", with: "-") }
        package var more: String

        package init(
            version: String, state: String = "READY_FOR_DISTRIBUTION", phase: String? = nil, isIncluded: Bool = true,
            more: String = ""
        ) {
            (self.version, self.state, self.phase) = (version, state, phase)
            (self.isIncluded, self.more) = (isIncluded, more)
        }
    }

    package static func page(
        _ versions: [Listed], server: String = apple, next: String? = nil, appID: Int64 = appID
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

    package static func phase(_ state: String) -> String {
        #"{"data": {"type": "appStoreVersionPhasedReleases", "id": "p", "attributes": {"phasedReleaseState": "\#(state)"}}}"#
    }

    package static func error(_ status: Int, _ code: String, _ title: String, _ detail: String) -> String {
        #"""
        {"errors": [{"id": "d2f0c5f6-7d43-4b8a-9c3e-1f0b7a3c9d11", "status": "\#(status)", "code": "\#(code)",
         "title": "\#(title)", "detail": "\#(detail)"}]}
        """#
    }
}
