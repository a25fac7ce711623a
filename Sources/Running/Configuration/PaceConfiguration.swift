// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import Terminal
import WireFormat

/// How fast an app's pushes are sent, and to which parts of its audience.
package struct PaceConfiguration: Sendable, Equatable {
    /// Default as fast as possible.
    package var pace: Pace?
    /// Default the whole audience at once.
    package var waves: WavePlan?
    /// nil without waves.
    package var waveRules: WaveRules?
    /// The hours in which pushes may begin. Default at any time.
    package var hours: SendingHours?
}

extension PaceConfiguration {
    /// - Parameter timeToLive: a campaign's time to live, its pauses included.
    init(reading reader: ConfigurationReader, timeToLive: Duration) {
        let rate = reader.number("ratePerSecond", in: 0.01...1_000_000, "a rate")
        let ramp = reader.optionalObject("rampUp").map(Self.readRamp)
        pace = rate.map { Pace(ratePerSecond: $0, rampUp: ramp) }
        if rate == nil, reader.raw("ratePerSecond") == nil, ramp != nil {
            reader.fault("rampUp", "needs a ratePerSecond that it leads to")
        }
        waves = Self.readWaves(reader)
        let rules = Self.readRules(reader)
        if reader.raw("waves") != nil {
            waveRules = rules
        } else if reader.raw("betweenWaves")?.object?.isEmpty == false {
            reader.fault("betweenWaves", "needs waves; a list of percentages such as [1, 10, 100]")
        }
        if let waves, let pause = waveRules?.pause, pause * (waves.count - 1) >= timeToLive {
            reader.fault(
                "betweenWaves.pause",
                "\(DurationText.exact(pause)) between \(waves.count) waves leave nothing of push.timeToLive, "
                    + DurationText.exact(timeToLive))
        }
        hours = Self.readHours(reader, timeToLive: timeToLive)
        reader.finish()
    }

    private static func readRamp(_ reader: ConfigurationReader) -> Pace.RampUp {
        let from = reader.number("from", usual: "10", in: 1...100, "a percentage of the rate") ?? 10
        let over = reader.duration("over", default: "10m", in: .seconds(1)...(.seconds(7 * 86_400)))
        reader.finish()
        return Pace.RampUp(from: from / 100, over: over)
    }

    private static func readRules(_ reader: ConfigurationReader) -> WaveRules {
        guard let reader = reader.object("betweenWaves") else { return WaveRules(pause: .zero) }
        let needsApproval = reader.flag("approval", default: false)
        let pause = reader.duration(
            "pause", default: needsApproval ? "0" : "10m", in: .zero...(.seconds(30 * 86_400)))
        let failed = reader.number("maxFailedPercent", in: 0...100, "a percentage of a wave's pushes")
        reader.finish()
        return WaveRules(pause: pause, needsApproval: needsApproval, failedShare: failed.map { $0 / 100 })
    }

    /// nil where there are no waves, and after a fault.
    private static func readWaves(_ reader: ConfigurationReader) -> WavePlan? {
        let list = reader.list("waves")
        guard reader.raw("waves")?.array != nil else { return nil }
        guard !list.isEmpty, list.count <= WavePlan.most else {
            reader.fault("waves", "has \(list.count) waves; 1 to \(WavePlan.most), or leave it out")
            return nil
        }
        var ends: [Int] = []
        for (value, path) in list {
            guard let percent = value.number, percent > 0, percent <= 100,
                case let parts = percent * Double(WavePlan.parts) / 100, abs(parts - parts.rounded()) < 1e-6
            else {
                reader.fault(
                    at: path, "\(value.held) is not a percentage; a number from 0.01 to 100, two decimals at most")
                return nil
            }
            let end = Int(parts.rounded())
            if let last = ends.last, end <= last {
                reader.fault(
                    at: path,
                    "\(value.held) does not rise; each percentage is of the whole audience, those before included")
                return nil
            }
            ends.append(end)
        }
        guard let plan = WavePlan(ends: ends) else {
            reader.fault("waves", "ends at \(list.last?.value.held ?? "nothing"); the last is 100, the whole audience")
            return nil
        }
        return plan
    }
}
