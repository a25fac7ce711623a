// SPDX-License-Identifier: Apache-2.0
package import RelayEngine

/// One wave's devices among those of a range.
package struct WaveSlice: Hashable, Sendable {
    package var draw: WaveDraw
    package var number: Int

    package init(_ draw: WaveDraw, number: Int) {
        self.draw = draw
        self.number = number
    }

    /// The last wave takes all devices without an outcome, whichever wave their users are in.
    package var isLast: Bool { number == draw.plan.count - 1 }
}
