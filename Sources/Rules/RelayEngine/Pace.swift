// SPDX-License-Identifier: Apache-2.0

/// How fast an app's pushes may go out.
package struct Pace: Sendable, Hashable {
    /// A gentle beginning: the rate grows evenly.
    package struct RampUp: Sendable, Hashable {
        /// The share of the rate to begin with, above 0 and at most 1.
        package var from: Double
        /// How long until the whole rate is reached.
        package var over: Duration

        package init(from: Double, over: Duration) {
            self.from = from
            self.over = over
        }
    }

    /// Pushes a second, above 0; fractions are for less than one.
    package var ratePerSecond: Double
    /// Default none: the whole rate from the first push on.
    package var rampUp: RampUp?

    package init(ratePerSecond: Double, rampUp: RampUp? = nil) {
        self.ratePerSecond = ratePerSecond
        self.rampUp = rampUp
    }
}
