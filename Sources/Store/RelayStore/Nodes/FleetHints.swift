// SPDX-License-Identifier: Apache-2.0
package import Requirements
import UpgradeRules

/// A person's request to one relay that another relay carries out.
package enum FleetRequest: Hashable, Sendable {
    /// The app's push services are tried at once, whatever they wait for.
    case probe(AppKey)
    /// The app's store is asked at once.
    case ask(AppKey)

    /// The request as a notification's payload. The leading "!" distinguishes it from a table's name.
    package var text: String {
        switch self {
        case .probe(let app): "!probe \(app.platform.rawValue) \(app.app)"
        case .ask(let app): "!ask \(app.platform.rawValue) \(app.app)"
        }
    }

    package init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", maxSplits: 2)
        guard words.count == 3, let platform = Platform(rawValue: String(words[1])) else { return nil }
        let app = AppKey(app: String(words[2]), platform: platform)
        switch words[0] {
        case "!probe": self = .probe(app)
        case "!ask": self = .ask(app)
        default: return nil
        }
    }
}

/// News from the other relays. Hints may be lost, so each relay also looks at the store itself.
package struct FleetHints: Hashable, Sendable {
    /// The tables in which something has changed.
    package var tables: Set<String> = []
    package var wishes: [FleetRequest] = []
    /// Anything may have changed.
    package var isEverything = false

    package init() {}

    package static let everything = {
        var news = FleetHints()
        news.isEverything = true
        return news
    }()

    package var isEmpty: Bool { tables.isEmpty && wishes.isEmpty && !isEverything }

    package func concerns(_ names: Set<String>) -> Bool { isEverything || !tables.isDisjoint(with: names) }

    package mutating func formUnion(_ other: FleetHints) {
        tables.formUnion(other.tables)
        wishes += other.wishes
        isEverything = isEverything || other.isEverything
    }

    /// - Parameter payload: the schema's name, a space, and the name of a table or a request.
    package mutating func add(_ payload: String, ofSchema schema: String) {
        guard payload.hasPrefix(schema + " ") else { return }
        let hint = payload.dropFirst(schema.count + 1)
        if hint.hasPrefix("!") {
            if let wish = FleetRequest(hint) { wishes.append(wish) }
        } else {
            tables.insert(String(hint))
        }
    }
}
