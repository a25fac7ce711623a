// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
import RelayStore
import Requirements
package import UpgradeRules
import WireFormat

/// The summary in one line, which support reads out: "Locked out on Android since 11:02 UTC: 2.1.0 is required, has 1.9.0. Push
/// accepted 11:19 UTC. Can get it: yes."
extension UserSummary {
    /// A part of the line, in English with a placeholder, "%", for each of its values. The page has its own words for both.
    package struct Part: Sendable {
        package enum Value: Hashable, Sendable {
            case text(String)
            case time(Timestamp)
            /// A push; of another requirement than the summary's, with its target.
            case push(of: UpgradeTarget?)
            case answer(StoreOffer.Answer)
        }

        package let pattern: StaticString
        package let values: [Value]

        fileprivate init(_ pattern: StaticString, _ values: Value...) {
            (self.pattern, self.values) = (pattern, values)
        }
    }

    /// The line in English. A time of the present day in UTC is without its date.
    ///
    /// - Parameter now: the present time.
    package func sentence(at now: Timestamp) -> String {
        parts.map { part in
            TextPattern.filled(part.pattern.description, part.values.map { Self.words($0, at: now) })
        }.joined()
    }

    private static func words(_ value: Part.Value, at now: Timestamp) -> String {
        switch value {
        case .text(let text): return text
        case .time(let time):
            let (text, today) = (time.internetTime, now.internetTime.prefix(10))
            let clock = "\(text.dropFirst(11).prefix(5)) UTC"
            return text.hasPrefix(today) ? clock : "\(text.prefix(10)) \(clock)"
        case .push(of: nil): return "Push"
        case .push(of: let target?):
            return target.isBlock ? "Push of the block of \(target.version)" : "Push of \(target.version)"
        case .answer(.yes): return "yes"
        case .answer(.notYet): return "not yet"
        case .answer(.no): return "no"
        case .answer(.unknown): return "unknown"
        }
    }

    /// The parts of the line, in their order.
    package var parts: [Part] {
        var parts = [lead]
        if devices > 1 {
            parts.append(Part(" (% of % devices)", .text(String(devicesAlike)), .text(String(devices))))
        }
        if state == .lockedOut, let since { parts.append(Part(" since %", .time(since))) }
        if let from { parts.append(Part(" from %", .time(from))) }
        if state != .notConfigured { parts.append(reason) }
        parts.append(outcome)
        if let offer { parts.append(Part(" Can get it: %.", .answer(offer.answer))) }
        return parts
    }

    private var lead: Part {
        let platform = Part.Value.text(app.platform == .ios ? "iOS" : "Android")
        return switch state {
        case .lockedOut: Part("Locked out on %", platform)
        case .unknownVersion: Part("Version unknown on %", platform)
        case .willBeAsked: Part("Will be asked to upgrade on %", platform)
        case .mayGoOn: Part("Not locked out on %", platform)
        case .noDevice: Part("No device on %", platform)
        case .notConfigured: Part("Not configured on %: the app gets no answer here.", platform)
        }
    }

    private var reason: Part {
        let installed = has.map { Part.Value.text($0.text) }
        guard let target else {
            return installed.map { Part(": nothing is required, has %.", $0) } ?? Part(": nothing is required.")
        }
        let version = Part.Value.text(target.version.text)
        guard let installed else {
            if demand == .coming { return Part(": % will be required.", version) }
            return since.map { Part(": % is required since %.", version, .time($0)) }
                ?? Part(": % is required.", version)
        }
        return switch (demand, target.isBlock) {
        case (.required, true): Part(": has %, which is blocked.", installed)
        case (.required, false): Part(": % is required, has %.", version, installed)
        case (.requiredWithoutURL, true): Part(": has %, which is blocked, and there is no download URL.", installed)
        case (.requiredWithoutURL, false):
            Part(": % is required, has %, and there is no download URL.", version, installed)
        case (.coming, true): Part(": has %, which will be blocked.", installed)
        case (.coming, false): Part(": % will be required, has %.", version, installed)
        case (.announced, _): Part(": % is announced, has %.", version, installed)
        case (.tooNew, _): Part(": % needs a newer system, has %.", version, installed)
        }
    }

    private var outcome: Part {
        guard let push else { return Part(" No push.") }
        let delivery = push.delivery
        let subject = Part.Value.push(of: push.target == target ? nil : push.target)
        let time = Part.Value.time(delivery.updatedAt)
        let reason = delivery.reason.map { Part.Value.text($0) }
        return switch (delivery.state, reason) {
        case (.pending, _), (.inFlight, _): Part(" % in line.", subject)
        case (.accepted, _): Part(" % accepted %.", subject, time)
        case (.retrying, let reason?): Part(" % not taken %, tried again (%).", subject, time, reason)
        case (.retrying, nil): Part(" % not taken %, tried again.", subject, time)
        case (.rejected, let reason?): Part(" % rejected % (%).", subject, time, reason)
        case (.rejected, nil): Part(" % rejected %.", subject, time)
        case (.unregistered, _): Part(" % failed %: its token is dead.", subject, time)
        case (.expired, _): Part(" % expired %.", subject, time)
        case (.filtered, let reason?): Part(" % left out % (%).", subject, time, reason)
        case (.filtered, nil): Part(" % left out %.", subject, time)
        case (.cancelled, _): Part(" % cancelled %.", subject, time)
        }
    }
}
