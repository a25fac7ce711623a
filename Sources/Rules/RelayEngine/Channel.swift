// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// A kind of push service, by its name in the configuration and in the API.
package enum ProviderName: String, Sendable, Hashable, CaseIterable {
    case apns, fcm

    /// The providers that may be used beside a platform's own.
    package static let beside: [ProviderName] = [.fcm]

    /// The name that people know.
    package var text: String {
        switch self {
        case .apns: "APNs"
        case .fcm: "FCM"
        }
    }
}

/// A way for pushes to reach a platform's devices: a provider, and one of its two environments.
///
/// Raw values are in the store: twice the provider's place among those of the platform, and one more for the sandbox. A new
/// provider of a platform gets the next place, and its two channels an index of the table `device` each.
package struct Channel: RawRepresentable, Sendable, Hashable, Comparable, CaseIterable {
    /// The two worlds of a push service that a token may belong to; names are on the wire. FCM has one world, so that both are the
    /// same there.
    package enum Environment: String, Sendable, Hashable, CaseIterable {
        case production, sandbox

        package var name: String { rawValue }
    }

    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// - Parameter provider: one that does not serve the platform counts as the platform's own.
    package init(_ provider: ProviderName, _ environment: Environment = .production, on platform: Platform) {
        let beside: UInt8 = platform == .ios && provider == .fcm ? 2 : 0
        self.init(rawValue: beside + (environment == .sandbox ? 1 : 0))
    }

    /// The platform's own push service: APNs for iOS, FCM for Android.
    package static let production = Channel(rawValue: 0)
    /// The same in its other environment.
    package static let sandbox = Channel(rawValue: 1)

    package static let allCases = (0..<4).map { Channel(rawValue: $0) }

    package var environment: Environment { rawValue & 1 == 0 ? .production : .sandbox }

    package func provider(on platform: Platform) -> ProviderName {
        switch platform {
        case .ios: rawValue < 2 ? .apns : .fcm
        case .android: .fcm
        }
    }

    /// The same provider in its other environment.
    package var other: Channel { Channel(rawValue: rawValue ^ 1) }

    /// Whether its provider is used beside the platform's own.
    package var isBeside: Bool { rawValue > 1 }

    /// The channel's part in the names of faults and metrics, unique within a platform: "production", "sandbox", "fcm".
    package func label(on platform: Platform) -> String {
        guard isBeside else { return environment.name }
        return provider(on: platform).rawValue + (environment == .production ? "" : "-\(environment.name)")
    }

    /// - Returns: nil where no channel of the platform has this label.
    package init?(label: String, on platform: Platform) {
        guard let channel = Self.allCases.first(where: { $0.label(on: platform) == label }) else { return nil }
        self = channel
    }

    /// The name that people know: "APNs", "APNs sandbox", "FCM".
    package func title(on platform: Platform) -> String {
        provider(on: platform).text + (environment == .production ? "" : " \(environment.name)")
    }

    /// The platform's own first, and production before the sandbox.
    package static func < (left: Channel, right: Channel) -> Bool { left.rawValue < right.rawValue }
}

extension ProviderName {
    /// The provider of a token, by its form: each token of FCM has a colon, and none of APNs, which are hex digits, has one.
    package static func of(token: String, on platform: Platform) -> ProviderName {
        of(hasColon: token.utf8.contains(colon), on: platform)
    }

    /// The same for its UTF-8.
    package static func of(token: ArraySlice<UInt8>, on platform: Platform) -> ProviderName {
        of(hasColon: token.contains(colon), on: platform)
    }

    private static let colon = UInt8(ascii: ":")

    private static func of(hasColon: Bool, on platform: Platform) -> ProviderName {
        switch platform {
        case .ios: hasColon ? .fcm : .apns
        case .android: .fcm
        }
    }
}
