// SPDX-License-Identifier: Apache-2.0
package import WireFormat

extension BodyFields {
    /// One field of a body: an absent field keeps the value, null removes it.
    ///
    /// - Parameter take: reads the field of that name.
    package mutating func change<Value>(
        _ name: String, _ take: (inout BodyFields, String) -> Value?
    ) -> FieldChange<Value> {
        let isNamed = names(name)
        let value = take(&self, name)
        return isNamed ? .set(value) : .keep
    }
}
