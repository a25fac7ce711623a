// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import Threading
import WireFormat

/// The time zone in which the page shows moments, and reads those that a person types without a zone.
enum PageZone: Hashable, Sendable {
    /// The browser's own, which its script knows; without a script, UTC.
    case browser
    /// One that the reader chose: UTC, or a zone of the tz database.
    case chosen(LocalZone)

    static let cookie = "upgrade_relay_zone"
    /// The choice that stands for the browser's own zone.
    static let ofBrowser = "browser"

    /// The zone that was chosen before; the browser's own where none was, or where the tz database does not have it any more.
    init(of head: RequestHead) {
        self = SessionCookie.value(of: Self.cookie, in: head).flatMap(PageZone.init(named:)) ?? .browser
    }

    /// nil: the tz database has no such zone.
    init?(named name: String) {
        if name == Self.ofBrowser {
            self = .browser
        } else if let zone = LocalZone(named: name) {
            self = .chosen(zone)
        } else {
            return nil
        }
    }

    /// nil: the script asks the browser.
    var name: String? {
        switch self {
        case .browser: nil
        case .chosen(let zone): zone.name
        }
    }

    /// "2026-01-31 17:05:07 Asia/Shanghai", as it stands in the document before the script has run.
    func text(_ moment: Timestamp) -> String {
        let local =
            switch self {
            case .browser: moment
            case .chosen(let zone): zone.local(moment)
            }
        let text = local.internetTime
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8)) \(name ?? "UTC")"
    }
}
