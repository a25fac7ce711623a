// SPDX-License-Identifier: Apache-2.0
import FaultInjection
import Foundation

/// How large a crash test is and when it kills: small in the suite, `make test-crash` runs it in full.
///
/// `CRASH_SEED` repeats a run; it is printed with every result and every failure.
struct CrashPlan: CustomStringConvertible {
    let devices: Int
    let kills: Int
    let seed: UInt64
    var random: SeededGenerator

    init() {
        func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }
        devices = number("CRASH_DEVICES") ?? 4_000
        kills = number("CRASH_KILLS") ?? 4
        seed = number("CRASH_SEED").map { UInt64($0) } ?? .random(in: 0..<1_000_000)
        random = SeededGenerator(seed: seed)
    }

    /// Sleeps for a random time, from none to `most`. A sleep on purpose: the kill must come at any moment, not at one that
    /// something signals.
    @discardableResult
    mutating func pass(upTo most: Duration) -> Duration {
        let microseconds = Int64(most / .microseconds(1))
        let time = Duration.microseconds(Int64.random(in: 0...max(1, microseconds), using: &random))
        usleep(UInt32(time / .microseconds(1)))
        return time
    }

    var description: String { "seed \(seed), \(devices) devices, \(kills) kills" }
}
