// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// A value for a statement that is not on the hot path.
enum SQLValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    static func text(_ text: String?) -> SQLValue {
        text.map { .text($0) } ?? .null
    }

    static func integer(_ number: Int) -> SQLValue { .integer(Int64(number)) }

    static func optional(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }

    static func time(_ time: Timestamp) -> SQLValue { .integer(time.milliseconds) }

    static func time(_ time: Timestamp?) -> SQLValue { .optional(time?.milliseconds) }

    static func version(_ version: Version?) -> SQLValue { .text(version?.text) }

    static func environment(_ environment: PushEnvironment) -> SQLValue { .integer(Int64(environment.rawValue)) }
}

extension Statement {
    func bind(_ values: [SQLValue]) {
        for (position, value) in values.enumerated() {
            let index = Int32(position + 1)
            switch value {
            case .integer(let number): bind(index, number)
            case .text(let text): bind(index, text)
            case .blob(let bytes): bind(index, blob: bytes)
            case .null: bindNull(index)
            }
        }
    }

    func time(_ column: Int32) -> Timestamp {
        Timestamp(milliseconds: integer(column))
    }

    func optionalTime(_ column: Int32) -> Timestamp? {
        optionalInteger(column).map { Timestamp(milliseconds: $0) }
    }

    /// A stored version. The schema refuses text that is none, so that a text that fails here was never written by it.
    func version(_ column: Int32) -> Version? {
        optionalText(column).flatMap { try? Version($0) }
    }

    func environment(_ column: Int32) -> PushEnvironment {
        integer(column) == 0 ? .production : .sandbox
    }

    func platform(_ column: Int32) -> Platform {
        Platform(rawValue: text(column)) ?? .ios
    }
}
