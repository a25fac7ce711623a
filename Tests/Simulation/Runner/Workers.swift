// SPDX-License-Identifier: Apache-2.0

/// Carries out orders, one or several at once. One thread uses it.
package protocol Workers: AnyObject {
    /// Whether another order can be given.
    var hasRoom: Bool { get }

    /// - Precondition: there is room.
    func give(_ order: Order)

    /// Waits for an order that was given: whichever is done first.
    func take() throws -> (order: Order, verdict: Verdict)
}

/// This process: one order at a time.
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
