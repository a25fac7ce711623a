// SPDX-License-Identifier: Apache-2.0
import PushSimulator

extension RequestHeaders {
    /// Unknown names are left out, as those on the wire are.
    init(_ fields: [(String, String)]) {
        self.init()
        let headers = KnownHeaders(of: .apns).all
        for (name, value) in fields {
            guard let known = headers.first(where: { $0.name.description == name }) else { continue }
            add(Array(value.utf8).span, at: known.place)
        }
    }
}
