// SPDX-License-Identifier: Apache-2.0
import RelayStore
import Requirements

extension RequirementField {
    var sql: SQL { SQL(stringLiteral: column) }
}

extension RequirementTerms {
    /// In the order of the fields.
    var parameters: [(any SQLValue)?] {
        RequirementField.allCases.map { field in
            switch self[field] {
            case .text(let text): text
            case .moment(let moment): moment
            case nil: nil
            }
        }
    }
}

extension Columns {
    /// The columns of all fields, in their order.
    mutating func terms() -> RequirementTerms {
        var terms = RequirementTerms()
        for field in RequirementField.allCases {
            terms[field] = field.isMoment ? optionalTime().map { .moment($0) } : optionalText().map { .text($0) }
        }
        return terms
    }
}
