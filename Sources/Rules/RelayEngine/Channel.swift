// SPDX-License-Identifier: Apache-2.0
package import UpgradeRules

/// A way for pushes to reach a platform's devices: a provider, and one of its two environments.
///
/// Raw values are in the store, whose tables check their range: twice the provider's place among those of the platform, and one
/// more for the sandbox. A new provider of a platform gets the next place.
package struct Channel: RawRepresentable, Sendable, Hashable, Comparable, CaseIterable {
    /// The two worlds of a push service that a token may belong to; names are on the wire. Where a push service has one world, both
    /// are the same.
    package enum Environment: String, Sendable, Hashable, CaseIterable {
        case production, sandbox

        package var name: String { rawValue }
    }

    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// - Parameter provider: one that does not serve the platform counts as the platform's own.
    package init(_ provider: ProviderName, _ environment: Environment = .production, on platform: Platform) {
        let place = ProviderName.all(on: platform).firstIndex(of: provider) ?? 0
        self.init(rawValue: UInt8(2 * place) + (environment == .sandbox ? 1 : 0))
    }

    /// The platform's own push service.
    package static let production = Channel(rawValue: 0)
    /// The same in its other environment.
    package static let sandbox = Channel(rawValue: 1)

    package static let allCases: [Channel] = {
        let most = Platform.allCases.map { ProviderName.all(on: $0).count }.max() ?? 0
        return (0..<UInt8(2 * most)).map { Channel(rawValue: $0) }
    }()

    package var environment: Environment { rawValue & 1 == 0 ? .production : .sandbox }

    package func provider(on platform: Platform) -> ProviderName {
        let (all, place) = (ProviderName.all(on: platform), Int(rawValue / 2))
        return place < all.count ? all[place] : all[0]
    }

    /// The same provider in its other environment.
    package var other: Channel { Channel(rawValue: rawValue ^ 1) }

    /// Whether its provider is used beside the platform's own.
    package var isBeside: Bool { rawValue > 1 }

    /// The channel's part in the names of faults and metrics, unique within a platform: "production", "sandbox", or the name of
    /// a provider beside the platform's own.
    package func label(on platform: Platform) -> String {
        guard isBeside else { return environment.name }
        return provider(on: platform).rawValue + (environment == .production ? "" : "-\(environment.name)")
    }

    /// - Returns: nil where no channel of the platform has this label.
    package init?(label: String, on platform: Platform) {
        guard let channel = Self.allCases.first(where: { $0.label(on: platform) == label }) else { return nil }
        self = channel
    }

    /// The name that people know: "APNs", "APNs sandbox".
    package func title(on platform: Platform) -> String {
        provider(on: platform).text + (environment == .production ? "" : " \(environment.name)")
    }

    /// The platform's own first, and production before the sandbox.
    package static func < (left: Channel, right: Channel) -> Bool { left.rawValue < right.rawValue }
}
