// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A flag that any thread sets once; the running work checks it and ends.
package final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isSet: Bool { flag.load(ordering: .relaxed) }

    package func set() { flag.store(true, ordering: .relaxed) }
}
