// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import WireFormat

/// The journal of a run: a hash of all that happened, the story for people, and what was reached.
struct Journal {
    /// The number of the step that is being performed; 0 before the first.
    var step = 0
    private(set) var reached: [String: Int] = [:]
    private(set) var story: [String] = []
    /// Over every event in order: two runs of one script must agree.
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    private let isStoryWanted: Bool
    /// The lines behind the hash: they show where two runs part.
    private(set) var lines: [String] = []

    init(isStoryWanted: Bool) { self.isStoryWanted = isStoryWanted }

    mutating func reach(_ name: String) { reached[name, default: 0] += 1 }

    mutating func trace(_ text: @autoclosure () -> String) {
        let text = text()
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if isStoryWanted { lines.append(text) }
    }

    mutating func note(_ text: @autoclosure () -> String, at time: Timestamp) {
        let text = text()
        trace(text)
        guard isStoryWanted else { return }
        story.append("\(step > 0 ? "\(step). " : "")\(time.internetTime)  \(text)")
    }
}
