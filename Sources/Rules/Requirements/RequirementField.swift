// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
package import WireFormat

/// A term that a bump sets, keeps or removes, with the only table of such terms. The body of a bump, its command and its
/// form, the API's answers, the audit trail, the log and the statements of both stores walk it.
///
/// A new term needs a case, a row, a member of `RequirementTerms`, and a step of the schema; its meaning is the machine's.
package enum RequirementField: UInt8, CaseIterable, Hashable, Sendable {
    case minimumOS, requiredFrom

    /// In the order of the members in JSON.
    private static let table: [Row] = [
        Row(
            .minimumOS, "minimumOs", .version(\.minimumOS), column: "minimum_os", option: "minimum-os",
            noun: "minimum OS", label: "Oldest system", hint: "On which the required version runs."),
        Row(
            .requiredFrom, "requiredFrom", .moment(\.requiredFrom), column: "required_from", option: "required-from",
            noun: "required from", label: "Required from",
            hint: "Such as 2026-12-01 09:00, in the time zone of this page, or 2026-12-01 09:00 Asia/Shanghai.",
            isOverInForce: true),
    ]
}

/// The values of a requirement's terms; nil: it has none.
package struct RequirementTerms: Hashable, Sendable {
    /// The oldest system that the version runs on; for a block, the oldest system that runs a version above it; nil:
    /// any, or not known.
    package var minimumOS: Version?
    /// No user is forced before this moment, whatever the store offers; nil: as soon as the store offers it.
    package var requiredFrom: Timestamp?

    package init() {}
}

extension Requirement {
    package var minimumOS: Version? {
        get { terms.minimumOS }
        set { terms.minimumOS = newValue }
    }

    package var requiredFrom: Timestamp? {
        get { terms.requiredFrom }
        set { terms.requiredFrom = newValue }
    }
}

extension VersionBump {
    /// The oldest system that the versions it names run on.
    package var minimumOS: FieldChange<Version> {
        get { terms[.minimumOS, \.minimumOS] }
        set { terms[.minimumOS, \.minimumOS] = newValue }
    }

    /// When the requirement comes into force at the earliest.
    package var requiredFrom: FieldChange<Timestamp> {
        get { terms[.requiredFrom, \.requiredFrom] }
        set { terms[.requiredFrom, \.requiredFrom] = newValue }
    }
}

extension RequirementField {
    fileprivate struct Row: Sendable {
        let field: RequirementField
        let name: StaticString
        let place: Place
        let column: StaticString
        let option: String
        let noun: String
        let label: StaticString
        let hint: StaticString
        let isOverInForce: Bool

        init(
            _ field: RequirementField, _ name: StaticString, _ place: Place, column: StaticString, option: String,
            noun: String, label: StaticString, hint: StaticString, isOverInForce: Bool = false
        ) {
            (self.field, self.name, self.place, self.column) = (field, name, place, column)
            (self.option, self.noun, self.label, self.hint) = (option, noun, label, hint)
            self.isOverInForce = isOverInForce
        }
    }

    /// The member that holds its value, with the value's kind.
    fileprivate enum Place: Sendable {
        case version(any WritableKeyPath<RequirementTerms, Version?> & Sendable)
        case moment(any WritableKeyPath<RequirementTerms, Timestamp?> & Sendable)
    }

    /// A value as it leaves the program: in the store, in JSON, and for people.
    package enum Value: Hashable, Sendable {
        case text(String)
        case moment(Timestamp)
    }

    fileprivate var row: Row {
        let row = Self.table[Int(rawValue)]
        assert(row.field == self, "the rows are in the order of the cases")
        return row
    }

    /// Its member in JSON, in an audit entry and in the log, and its field in a form.
    package var name: StaticString { row.name }

    /// Its column of the tables `requirement` and `requirement_event`.
    package var column: StaticString { row.column }

    /// Its option of a command, without the dashes.
    package var option: String { row.option }

    /// The noun for it in the output of a command.
    package var noun: String { row.noun }

    /// The label of its field in a form, in English.
    package var label: StaticString { row.label }

    /// The help below its field in a form, in English.
    package var hint: StaticString { row.hint }

    /// Whether the term is over once its requirement is in force: then only the history shows it.
    package var isOverInForce: Bool { row.isOverInForce }

    /// Whether its value is a moment rather than a text.
    package var isMoment: Bool {
        switch row.place {
        case .moment: true
        case .version: false
        }
    }

    /// A text that a person typed, in the form of its value.
    ///
    /// - Throws: an error with the reason where the text is no value.
    package func spelt(_ text: String) throws -> String {
        switch row.place {
        case .version: try Version(text).text
        case .moment: text
        }
    }
}

extension RequirementTerms {
    package subscript(field: RequirementField) -> RequirementField.Value? {
        get {
            switch field.row.place {
            case .version(let place): self[keyPath: place].map { .text($0.text) }
            case .moment(let place): self[keyPath: place].map { .moment($0) }
            }
        }
        set {
            switch (field.row.place, newValue) {
            case (.version(let place), .text(let text)?): self[keyPath: place] = try? Version(text)
            case (.moment(let place), .moment(let moment)?): self[keyPath: place] = moment
            case (.version(let place), _): self[keyPath: place] = nil
            case (.moment(let place), _): self[keyPath: place] = nil
            }
        }
    }

    /// Whether both are written alike: 15 and 15.0 are equal, but are written in two ways.
    package func isWritten(as other: RequirementTerms) -> Bool {
        RequirementField.allCases.allSatisfy { self[$0] == other[$0] }
    }
}

/// The terms that a bump names.
package struct RequirementTermChanges: Hashable, Sendable {
    private var named: Set<RequirementField> = []
    private var values = RequirementTerms()

    package init() {}

    package var isEmpty: Bool { named.isEmpty }

    /// The terms that it names, as a bump's body has them; nil: a term is removed.
    package var members: [(name: String, value: String?)] {
        RequirementField.allCases.filter(named.contains).map { ($0.name.description, values[$0]?.text) }
    }

    fileprivate subscript<Value>(
        field: RequirementField, place: WritableKeyPath<RequirementTerms, Value?>
    ) -> FieldChange<Value> {
        get { named.contains(field) ? .set(values[keyPath: place]) : .keep }
        set {
            values[keyPath: place] = newValue.value
            if newValue == .keep { named.remove(field) } else { named.insert(field) }
        }
    }

    /// Reads the terms out of a bump's body: a term that is left out is kept, null removes it.
    package init(_ fields: inout BodyFields) {
        for field in RequirementField.allCases {
            let name = field.name.description
            switch field.row.place {
            case .version(let place): self[field, place] = fields.change(name) { $0.version($1) }
            case .moment(let place):
                self[field, place] = fields.change(name) { fields, name in
                    fields.time(name, example: "2026-12-01T09:00:00+08:00") {
                        "a moment with its offset is needed, such as \($0) or \"2026-12-01T01:00:00Z\""
                    }
                }
            }
        }
    }
}

extension RequirementField.Value {
    /// The text in JSON and in the log.
    package var text: String {
        switch self {
        case .text(let text): text
        case .moment(let moment): moment.internetTime
        }
    }
}

// MARK: In the API's document

extension RequirementField {
    /// The values that answers show.
    package var schema: Schema { isMoment ? .instant.orNull : .version.orNull }

    /// Its description in answers.
    package var note: String {
        switch self {
        case .minimumOS:
            "The oldest system that the required version runs on, on Android an API level; null: any, or not known. Devices with an older one are neither pushed to nor forced by it."
        case .requiredFrom:
            "No user is forced before this moment; until then the version is announced, with its date. null: as soon as its store offers it."
        }
    }

    /// Its member in the body of a bump.
    package var property: Schema.Property {
        let note =
            switch self {
            case .minimumOS:
                "The oldest system that the bump's versions run on (if it names none: the required one), such as \"15.0\"; on Android an API level, such as \"29\". If left out, it stays as it is, and null clears it."
            case .requiredFrom:
                "No user is forced before this moment, which is in the future, by a year at most; until then every channel announces the version. If left out, it stays as it is; null: at once. A version already in force takes none (409)."
            }
        let schema = isMoment ? Schema.anyInstant.orNull : .version.orNull
        return Schema.Property(name.description, schema.described(note), isRequired: false)
    }
}
