// SPDX-License-Identifier: Apache-2.0
import Registry
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// How a list is answered: page by page, or as a stream to its end.
enum ListForm: String, CaseIterable {
    case json
    case csv
    case ndjson

    var isStream: Bool { self != .json }

    var contentType: String {
        switch self {
        case .json: "application/json"
        case .csv: "text/csv"
        case .ndjson: "application/x-ndjson"
        }
    }

    /// The form that an `Accept` names with the highest weight (RFC 9110, section 12.5.1); nil where it names none of them:
    /// ranges such as `*/*` leave the choice to the server.
    static func accepted(_ accept: String?, among forms: [ListForm]) -> ListForm? {
        var best: (form: ListForm, weight: Double)?
        for range in ListBound.acceptedTypes.members(of: accept ?? "")
        where range.utf8.count <= ListBound.longestMember {
            let parts = range.split(separator: ";", maxSplits: 8).map { $0.filter { !$0.isWhitespace }.lowercased() }
            guard let form = forms.first(where: { $0.contentType == parts.first }) else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            if weight > best?.weight ?? 0 { best = (form, weight) }
        }
        return best?.form
    }
}

extension Query {
    /// The form of the parameter `format`, else the one that `Accept` names.
    ///
    /// - Parameter forms: the forms that the list has; the first is the default.
    mutating func form(_ accept: String?, among forms: [ListForm]) -> ListForm {
        choice("format", of: forms, \.rawValue) ?? ListForm.accepted(accept, among: forms) ?? forms[0]
    }

    /// Refuses the parameters that only a list in pages has.
    mutating func wholeList() {
        for name in ["limit", "cursor"] where text(name) != nil {
            refuse(name, "goes with pages; as CSV or NDJSON the list is answered to its end")
        }
    }

    /// Reads a text and refuses an empty one.
    package mutating func filledText(_ name: String) -> String? {
        let text = text(name)
        if text == "" { refuse(name, "must not be empty") }
        return text
    }
}

/// How an item of a list is written in a stream.
struct LineFormat<Item> {
    let columns: [String]
    /// Writes the item as an object with the columns as its members.
    let json: (inout JSONWriter, Item, Redaction) -> Void
    /// The cells, in the order of the columns.
    let cells: (Item, Redaction) -> [String?]
}

extension LineFormat<DeviceRecord> {
    /// An export has millions of lines, so it has a writer of its own. A test compares it with `DeviceRecord.lineShape`.
    static var device: LineFormat {
        LineFormat(columns: DeviceField.allCases.map(\.name)) { writer, record, sight in
            writer.object { writer in
                writer.members(of: record.registration.app, AppKey.shape)
                writer.member(.token, of: record.registration, for: sight)
                for field in DeviceField.values { writer.member(field, of: record.registration, for: sight) }
                writer.member(.registeredAt, record.registeredAt)
                writer.member(.deadSince, record.retiredAt)
                writer.member(.seenAt, record.seenAt)
            }
        } cells: { record, sight in
            DeviceField.allCases.map { field in
                switch field {
                case .registeredAt: record.registeredAt.internetTime
                case .deadSince: record.retiredAt?.internetTime
                case .seenAt: record.seenAt?.internetTime
                default: record.registration.text(of: field, for: sight)
                }
            }
        }
    }
}

extension LineFormat<Delivery> {
    static var delivery: LineFormat {
        LineFormat(columns: Delivery.shape.names) {
            $0.object($1, Delivery.shape, for: $2)
        } cells: { delivery, sight in
            [
                delivery.campaign, delivery.app.app, delivery.app.platform.rawValue, sight.token(delivery.token),
                delivery.telephone.map(sight.telephone), delivery.state.name, delivery.reason,
                PushID.text(campaign: delivery.campaign, device: delivery.device), String(delivery.attempts),
                delivery.nextAttemptAt?.internetTime, delivery.updatedAt.internetTime,
            ]
        }
    }
}
