// SPDX-License-Identifier: Apache-2.0
package import Registry

extension DeviceField {
    /// The field's column in the table `device`.
    ///
    /// - Precondition: it is one of `values`.
    package var sql: SQL {
        guard let column else { preconditionFailure("\(self) has no column") }
        return SQL(stringLiteral: column)
    }
}
