// SPDX-License-Identifier: Apache-2.0

/// The peers that the relay asks for something or hands something to, and their answers that mean yes. Any other answer
/// counts as none, also a 2xx. Those of push services are in the folders of the providers.
///
/// The guides show these as a table, and a test answers for each peer with a 2xx that means no.
package enum PeerAnswer: String, CaseIterable, Sendable {
    case googleToken = "Google's token endpoint"
    case appStore = "App Store lookup"
    case appStoreConnect = "App Store Connect"
    case googlePlay = "Google Play"
    case launchGate = "LaunchGate URL"
    case receiver = "receiver of `notify`, format `json`"
    case chat = "receiver of `notify`, format `slack`"

    /// The answer that means yes, for the guide.
    package var yes: String {
        switch self {
        case .googleToken:
            "HTTP 200 and JSON with an `access_token`, of the type, scope and lifetime that the table of fields names"
        case .appStore:
            "HTTP 200 and JSON with `results`: the app that was asked for, or an empty list, which means that it is not there"
        case .appStoreConnect:
            "HTTP 200 and JSON with `data` and `links.self` of the app; for a phased release also 404: there is none"
        case .googlePlay:
            "HTTP 200 and JSON about the track; an empty 200, and a 404 that is not about the package: nothing was released there"
        case .launchGate: "HTTP 200 and a LaunchGate document; 304 where it was asked for a change"
        case .receiver:
            "2xx, whatever the body, also beyond 64 KiB, which is not read; but no page (HTML), and no JSON with `ok` or `success` false, an "
                + "`errcode` other than 0, or `status` or `result` \"error\""
        case .chat: "the same, and a text is `ok` (Teams: `1`) or empty: `invalid_payload` and the like mean no"
        }
    }
}
