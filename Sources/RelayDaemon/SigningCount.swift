// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How many provider tokens this process has signed, whatever became of the routes that they were for.
package final class SigningCount: Sendable {
    package init() {}

    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }
}
