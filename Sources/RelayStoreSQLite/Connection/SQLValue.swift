// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import UpgradeRules

/// What can be bound to a parameter of a statement that is not on the hot path; nil is NULL.
protocol SQLValue {
    func bind(to statement: Statement, at index: Int32)
}

extension Int64: SQLValue {
    func bind(to statement: Statement, at index: Int32) { statement.bind(index, self) }
}

extension FixedWidthInteger where Self: SQLValue {
    func bind(to statement: Statement, at index: Int32) { statement.bind(index, Int64(self)) }
}

extension Int: SQLValue {}
extension UInt8: SQLValue {}

extension Bool: SQLValue {
    func bind(to statement: Statement, at index: Int32) { statement.bind(index, self ? 1 : 0) }
}

extension String: SQLValue {
    func bind(to statement: Statement, at index: Int32) { statement.bind(index, self) }
}

extension [UInt8]: SQLValue {
    func bind(to statement: Statement, at index: Int32) { statement.bind(index, blob: self) }
}

extension Timestamp: SQLValue {
    func bind(to statement: Statement, at index: Int32) { statement.bind(index, milliseconds) }
}

extension Version: SQLValue {
    func bind(to statement: Statement, at index: Int32) { statement.bind(index, text) }
}

extension RawRepresentable where Self: SQLValue, RawValue: SQLValue {
    func bind(to statement: Statement, at index: Int32) { rawValue.bind(to: statement, at: index) }
}

extension Requirement.State: SQLValue {}
extension SentAgain: SQLValue {}
extension CampaignState: SQLValue {}
extension DeliveryState: SQLValue {}
extension Platform: SQLValue {}
extension PushEnvironment: SQLValue {}
extension TokenDoubt.Kind: SQLValue {}

extension Statement {
    func bind(_ values: [(any SQLValue)?]) {
        for (index, value) in zip(Int32(1)..., values) {
            if let value { value.bind(to: self, at: index) } else { bindNull(index) }
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

    /// nil for NULL.
    func state(_ column: Int32) -> DeliveryState? {
        optionalInteger(column).flatMap { DeliveryState(rawValue: UInt8(truncatingIfNeeded: $0)) }
    }

    func environment(_ column: Int32) -> PushEnvironment {
        integer(column) == 0 ? .production : .sandbox
    }

    func platform(_ column: Int32) -> Platform {
        Platform(rawValue: text(column)) ?? .ios
    }
}
