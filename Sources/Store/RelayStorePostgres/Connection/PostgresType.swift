// SPDX-License-Identifier: Apache-2.0

/// The types that parameters have. Raw values are their numbers (pg_type.dat), which never change.
enum PostgresType: UInt32, Sendable {
    case bool = 16
    case bytea = 17
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case bools = 1000
    case byteas = 1001
    case int2s = 1005
    case int4s = 1007
    case texts = 1009
    case int8s = 1016
    case uuid = 2950
    case uuids = 2951

    /// The type of an array of this type.
    var array: PostgresType {
        switch self {
        case .bool: .bools
        case .bytea: .byteas
        case .int8: .int8s
        case .int2: .int2s
        case .int4: .int4s
        case .text: .texts
        case .uuid: .uuids
        case .bools, .byteas, .int2s, .int4s, .texts, .int8s, .uuids:
            preconditionFailure("an array of arrays is bound nowhere")
        }
    }
}
