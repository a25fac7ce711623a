// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import RelayStore
import Telemetry
import Testing

@testable import FanOut

/// A store that refuses: logged once, and nothing is read for a while.
@Suite struct StoreTroubleTests {
    private let start = MonotonicTime(nanoseconds: 0)
    private let lines = LogLines()
    private var faults = FaultLog()
    private var trouble: StoreTrouble

    init() {
        let lines = lines
        trouble = StoreTrouble(
            rest: .seconds(1), log: Log(minimum: .debug) { _, text, _ in lines.add(text.description) })
    }

    @Test mutating func `Sending rests after each refusal, for its own time`() {
        #expect(!trouble.rests(at: start))
        trouble.note(StoreError(.failed, context: "no"), &faults, at: start)
        #expect(trouble.rests(at: start + .milliseconds(999)) && !trouble.rests(at: start + .seconds(1)))
        trouble.endRest()
        #expect(!trouble.rests(at: start))
    }

    @Test mutating func `A refusal is logged when it begins and when its kind changes`() {
        for code in [StoreError.Code.failed, .failed, .full, .full] {
            trouble.note(StoreError(code, context: "no"), &faults, at: start)
        }
        #expect(lines.count(of: "the store refuses") == 2)
        #expect(trouble.text(in: faults)?.contains("no") == true)
    }

    @Test mutating func `A store that cannot be watched is a fault of its own`() {
        trouble.noteLook(StoreError(.failed, context: "no"), &faults)
        #expect(trouble.text(in: faults) == nil && faults.text("watcher") != nil && !trouble.rests(at: start))
        trouble.noteLook(StoreError(.failed, context: "no"), &faults)
        trouble.noteLook(nil, &faults)
        trouble.noteLook(nil, &faults)
        for line in ["the store cannot be watched", "the store can be watched again"] {
            #expect(lines.count(of: line) == 1, "\(line)")
        }
    }
}
