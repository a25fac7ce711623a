// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// A kind of push service, by its name in the configuration and in the API. The facts here are those that rooms below
/// `PushProviders` need; the folders of its name have all others.
package enum ProviderName: String, Sendable, Hashable, CaseIterable {
    case apns, fcm

    /// The providers of a platform, its own first. A provider's place among them is in the store (`Channel`): a new one is the
    /// last.
    package static func all(on platform: Platform) -> [ProviderName] {
        switch platform {
        case .ios: ofIOS
        case .android: ofAndroid
        }
    }

    /// The platform's own provider.
    package static func own(of platform: Platform) -> ProviderName { all(on: platform)[0] }

    private static let ofIOS: [ProviderName] = [.apns, .fcm]
    private static let ofAndroid: [ProviderName] = [.fcm]

    /// The provider of a token, by its form: each token of FCM has a colon, and none of APNs, which are hex digits, has one.
    private static func of(hasColon: Bool, on platform: Platform) -> ProviderName {
        switch platform {
        case .ios: hasColon ? .fcm : .apns
        case .android: .fcm
        }
    }

    private struct Facts {
        var text: String
        var tokens: TokenForm
        var statusPage: String
        var asksForCredential = false
        var hasQuota = false
    }

    private var facts: Facts {
        switch self {
        case .apns:
            // Apple: device tokens are of variable length, do not hard-code their size.
            Facts(text: "APNs", tokens: TokenForm(.hexDigits, 2...400), statusPage: "Apple's System Status page")
        case .fcm:
            Facts(
                text: "FCM", tokens: TokenForm(.visibleASCII, 1...4096), statusPage: "Firebase's",
                asksForCredential: true, hasQuota: true)
        }
    }
}

extension ProviderName {
    /// The name that people know.
    package var text: String { facts.text }

    /// The form of its tokens.
    package var tokens: TokenForm { facts.tokens }

    /// Its vendor's page about outages.
    package var statusPage: String { facts.statusPage }

    /// Whether its credentials are asked for at a server, and not made by the relay.
    package var asksForCredential: Bool { facts.asksForCredential }

    /// Whether all pushes of a project count towards one quota.
    package var hasQuota: Bool { facts.hasQuota }

    /// The providers that may be used beside a platform's own.
    package static let beside = allCases.filter { provider in
        Platform.allCases.contains { all(on: $0).dropFirst().contains(provider) }
    }

    /// The provider of a token, by its form.
    package static func of(token: String, on platform: Platform) -> ProviderName {
        of(hasColon: token.utf8.contains(colon), on: platform)
    }

    /// The same for its UTF-8.
    package static func of(token: ArraySlice<UInt8>, on platform: Platform) -> ProviderName {
        of(hasColon: token.contains(colon), on: platform)
    }

    private static let colon = UInt8(ascii: ":")
}
