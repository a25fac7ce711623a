// SPDX-License-Identifier: Apache-2.0

/// How many pushes may leave at this moment.
package struct SendingAllowance: Sendable, Equatable {
    package var pushes: Int
    /// If none may leave: how long until that changes; nil where an answer has to come first.
    package var wait: Duration?

    /// As many as there are.
    package static let unlimited = SendingAllowance(pushes: .max)
}
