// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// The sources that report a store's offers. The raw values are their names in configuration, history, metrics and the
/// relay's store.
package enum StoreKind: String, Hashable, Sendable, CaseIterable {
    /// The public lookup.
    case appStore
    case appStoreConnect
    case googlePlay

    /// The service that is asked, as people know it.
    package var title: String {
        switch self {
        case .appStore: "the App Store"
        case .appStoreConnect: "App Store Connect"
        case .googlePlay: "Google Play"
        }
    }

    /// The store that offers the app.
    package var storeName: String {
        switch self {
        case .appStore, .appStoreConnect: "the App Store"
        case .googlePlay: "Google Play"
        }
    }
}

/// The last evidence of a store's offer.
package enum StoreEvidence: Hashable, Sendable {
    case appStore(LookupEvidence)
    case appStoreConnect(AppStoreConnectEvidence)
    case googlePlay(GooglePlayEvidence)

    package var kind: StoreKind {
        switch self {
        case .appStore: .appStore
        case .appStoreConnect: .appStoreConnect
        case .googlePlay: .googlePlay
        }
    }

    /// When the source gave this answer.
    package var askedAt: Timestamp {
        switch self {
        case .appStore(let lookup): lookup.askedAt
        case .appStoreConnect(let answer): answer.askedAt
        case .googlePlay(let track): track.askedAt
        }
    }

    /// Every version that it names, whatever share of the users it is offered to.
    package var versions: [Version] {
        switch self {
        case .appStore(let lookup): [lookup.version].compactMap(\.self)
        case .appStoreConnect(let answer): answer.releases.map(\.version)
        case .googlePlay(let track): track.releases.compactMap(\.version)
        }
    }
}
