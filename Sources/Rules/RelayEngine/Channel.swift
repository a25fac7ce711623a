// SPDX-License-Identifier: Apache-2.0

/// One way of pushes to a platform's devices: a provider, and one of its two environments. Raw values are in the store.
package struct Channel: RawRepresentable, Sendable, Hashable, Comparable, CaseIterable {
    /// The two worlds of a push service that a token may belong to; names are on the wire. FCM has one world, so that both are the
    /// same there.
    package enum Environment: String, Sendable, Hashable, CaseIterable {
        case production, sandbox

        package var name: String { rawValue }
    }

    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package init(_ environment: Environment) {
        self.init(rawValue: environment == .sandbox ? 1 : 0)
    }

    /// The platform's own push service: APNs for iOS, FCM for Android.
    package static let production = Channel(rawValue: 0)
    /// The same in its other environment.
    package static let sandbox = Channel(rawValue: 1)

    package static let allCases = [production, sandbox]

    package var environment: Environment { rawValue & 1 == 0 ? .production : .sandbox }

    /// The same provider in its other environment.
    package var other: Channel { Channel(rawValue: rawValue ^ 1) }

    /// Production first.
    package static func < (left: Channel, right: Channel) -> Bool { left.rawValue < right.rawValue }
}
