// SPDX-License-Identifier: Apache-2.0

/// Who can say what a store offers. The raw values are the sources' names in configuration, history and metrics.
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

/// What a store was last seen to offer.
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
}
