// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// The place of a dead token among those of its app, in the order in which the relay learnt of them: a thousand times
/// the time in milliseconds, and always more than the place before it, whatever the clock does. A client that has read
/// up to a place, and asks for the tokens behind it, misses none.
package struct DeadPlace: Hashable, Comparable, Sendable {
    /// Never less than 0.
    package var order: Int64

    package static let perMillisecond: Int64 = 1000

    package init(order: Int64) { self.order = max(order, 0) }

    /// Everything that the relay learns from this moment on, by its own clock, is behind this place, and so is all that
    /// it learnt earlier while its clock was ahead.
    package init(before moment: Timestamp) {
        let (order, overflows) = moment.milliseconds.multipliedReportingOverflow(by: Self.perMillisecond)
        self.init(order: overflows ? (moment.milliseconds < 0 ? 0 : .max) : order - 1)
    }

    package static func < (left: DeadPlace, right: DeadPlace) -> Bool { left.order < right.order }
}

/// A device whose token was called dead by the push service or an import, and that was not registered since.
package struct DeadDevice: Hashable, Sendable {
    package var record: DeviceRecord
    package var place: DeadPlace

    package init(record: DeviceRecord, place: DeadPlace) {
        self.record = record
        self.place = place
    }
}

/// The effect of a registration on the device of the token that it replaces.
package enum DeviceReplacement: String, Hashable, Sendable, CaseIterable {
    /// It has the new token now: the phone keeps its place in each campaign.
    case moved
    /// It is removed, for the new token had a device of its own already.
    case removed
    /// There was none.
    case unknown

    /// The time of registration under the new token. It differs from the old token's time, so that an answer to a push
    /// to the old token is not taken for an answer about the new one.
    package static func moment(_ now: Timestamp, after registered: Timestamp) -> Timestamp {
        now == registered ? now + .milliseconds(1) : now
    }
}
