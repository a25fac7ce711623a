// SPDX-License-Identifier: Apache-2.0
import Terminal
import WireFormat

/// What the campaign cost the daemon: the simulator, which runs in the demo's own process, is not in it.
struct DemoCost: Sendable {
    /// Pushes that the simulator saw, each try counted, by the time from the webhook to the end.
    var pushesPerSecond: Double
    /// User and system time of the daemon from before the webhook to the end, by push.
    var processorTimePerPush: Double
    /// Most memory that was resident at once, in bytes, since the daemon's start: the registration is in it.
    var peakMemory: Int64

    /// nil where the system does not say, or nothing was pushed.
    init?(before: ProcessFigures?, after: ProcessFigures?, pushes: Int, elapsed: Duration) {
        guard let before, let after, pushes > 0 else { return nil }
        let used = after.processorTime - before.processorTime
        pushesPerSecond = Double(pushes) / (elapsed / .seconds(1))
        processorTimePerPush = used / .microseconds(1) / Double(pushes)
        peakMemory = after.peakMemory
    }

    var text: String {
        let perPush = (processorTimePerPush * 10).rounded() / 10
        return "The daemon: \(Quantity.count(Int(pushesPerSecond))) pushes a second, \(perPush) µs of CPU per push, "
            + "\(peakMemory >> 20) MiB of memory at its peak."
    }

    var json: JSONValue {
        [
            "pushesPerSecond": .number("\(pushesPerSecond)"),
            "cpuMicrosecondsPerPush": .number("\(processorTimePerPush)"), "peakMemoryBytes": .integer(peakMemory),
        ]
    }
}
