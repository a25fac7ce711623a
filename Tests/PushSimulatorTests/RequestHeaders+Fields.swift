// SPDX-License-Identifier: Apache-2.0
import PushSimulator

extension RequestHeaders {
    /// Names that are not known are left out, as the wire's are.
    init(_ fields: [(String, String)]) {
        self.init()
        for (name, value) in fields {
            guard let known = KnownHeader.allCases.first(where: { $0.name.description == name }) else { continue }
            add(known, Array(value.utf8).span)
        }
    }
}
