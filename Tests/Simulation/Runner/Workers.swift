// SPDX-License-Identifier: Apache-2.0

/// Carries out orders, one or several at once. Only one thread may use it.
package protocol Workers: AnyObject {
    /// Whether another order can be given.
    var hasRoom: Bool { get }

    /// - Precondition: there is room.
    func give(_ order: Order)

    /// Waits for any of the given orders, and returns the first that is done.
    func take() throws -> (order: Order, verdict: Verdict)
}

/// A worker in this process: one order at a time.
package final class OwnWorker<Kind: Histories>: Workers {
    private let histories: Kind
    private var order: Order?

    package init(_ histories: Kind) { self.histories = histories }

    package var hasRoom: Bool { order == nil }

    package func give(_ order: Order) { self.order = order }

    package func take() throws -> (order: Order, verdict: Verdict) {
        guard let order else { preconditionFailure("no order was given") }
        self.order = nil
        return (order, try histories.carryOut(order))
    }
}
