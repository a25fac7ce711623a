// SPDX-License-Identifier: Apache-2.0
package import CurlTransport
package import RelayEngine
import RelayStore
package import Requirements
import WireFormat

/// A source that the versions of one app are looked up in.
package struct VersionSource: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case appStore(AppStoreSource)
        case appStoreConnect(AppStoreConnectSource)
        /// The absolute path of a LaunchGate file.
        case launchGateFile(path: String)
        case launchGateURL(LaunchGateURLSource)
        case googlePlay(GooglePlaySource)

        /// The store that it asks; versions wait until that store offers them. nil for a LaunchGate file.
        package var store: StoreKind? {
            switch self {
            case .appStore: .appStore
            case .appStoreConnect: .appStoreConnect
            case .googlePlay: .googlePlay
            case .launchGateFile, .launchGateURL: nil
            }
        }

        /// The address that it dials, and the way to it; nil for a file on the disk.
        package var dialled: (url: String, egress: Egress)? {
            switch self {
            case .appStore(let source): (source.server, source.egress)
            case .appStoreConnect(let source): (source.server, source.egress)
            case .googlePlay(let source): (source.server, source.egress)
            case .launchGateURL(let source): (source.url, source.egress)
            case .launchGateFile: nil
            }
        }

        /// The same source, reached through this egress; a file needs none.
        package func by(_ egress: Egress) -> Self {
            switch self {
            case .appStore(var source):
                source.egress = egress
                return .appStore(source)
            case .appStoreConnect(var source):
                source.egress = egress
                return .appStoreConnect(source)
            case .googlePlay(var source):
                source.egress = egress
                return .googlePlay(source)
            case .launchGateURL(var source):
                source.egress = egress
                return .launchGateURL(source)
            case .launchGateFile: return self
            }
        }

        /// The store's query: the answer to another query is no evidence for the app. nil for a LaunchGate file.
        var query: String? {
            switch self {
            case .appStore(let source): source.query
            case .appStoreConnect(let source): source.query
            case .googlePlay(let source): source.query
            case .launchGateFile, .launchGateURL: nil
            }
        }
    }

    package var app: AppKey
    package var kind: Kind

    package init(app: AppKey, kind: Kind) {
        self.app = app
        self.kind = kind
    }

    /// The source of a bump, as the version's history names it.
    package var name: String {
        kind.store?.rawValue ?? "launchGate"
    }
}

/// A store whose questions are spaced.
protocol PacedSource: Sendable {
    /// The name that the store counts questions by: sources of one name share the pace.
    var paceName: String { get }
    /// The time between two questions.
    var spacing: Duration { get }
}

/// One app in the App Store's lookup.
package struct AppStoreSource: PacedSource, Hashable {
    package static let apple = "https://itunes.apple.com"

    /// The number in the app's address in the store.
    package var trackID: Int64?
    package var bundleID: String?
    /// Two letters; nil means the United States to the store.
    package var country: String?
    /// Default 15 minutes.
    package var every: Duration
    /// Default Apple's; another one is the owner's own, for tests.
    package var server: String
    /// The way to the server. The configuration gives only the place of a proxy's password; direct until the password
    /// has been read.
    package var egress: Egress

    package init(
        trackID: Int64?, bundleID: String?, country: String? = nil, every: Duration = .seconds(900),
        server: String = AppStoreSource.apple, egress: Egress = .direct
    ) {
        self.trackID = trackID
        self.bundleID = bundleID
        self.country = country
        self.every = every
        self.server = server
        self.egress = egress
    }

    /// The time between two questions by Apple's limit; none for the owner's own server.
    package var spacing: Duration { server == Self.apple ? .seconds(3) : .zero }

    /// All questions come from the relay's address, which the store counts by.
    var paceName: String { server }

    /// The question and the edition of the checks: another storefront has other versions.
    var query: String {
        let words = keys.map { key in
            switch key {
            case .trackID(let id): "id=\(id)"
            case .bundleID(let id): "bundleId=\(id)"
            }
        }
        return "\(server)/lookup?" + (words + (country.map { ["country=\($0)"] } ?? [])).joined(separator: "&")
            + " \(AnswerField.edition)"
    }

    package var keys: [LookupKey] {
        (trackID.map { [.trackID($0)] } ?? []) + (bundleID.map { [.bundleID($0)] } ?? [])
    }
}

/// A key for looking an app up. The two have disagreed for days (PROTOCOLS 4), so both are asked.
package enum LookupKey: Hashable, Sendable {
    case trackID(Int64)
    case bundleID(String)
}

/// A LaunchGate file on a web server.
package struct LaunchGateURLSource: Hashable, Sendable {
    package var url: String
    /// Default 5 minutes.
    package var every: Duration
    /// The way to the server. The configuration gives only the place of a proxy's password; direct until the password
    /// has been read.
    package var egress: Egress

    package init(url: String, every: Duration = .seconds(300), egress: Egress = .direct) {
        self.url = url
        self.every = every
        self.egress = egress
    }
}
