// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import Requirements
import UpgradeRules

/// The summary as a line: "2.1.0 is required in steps; 34 % have it; 5 % were pushed to so far; next step: you, to 30 % of the
/// users." A user interface puts "; " between the parts and "." behind the last.
extension AppSummary {
    /// A part of the line, in English with a placeholder, "%", for each of its values. The page has its own words for both.
    package struct Part: Sendable {
        package enum Value: Hashable, Sendable {
            case text(String)
            case share(Share)
            case step(Rollout.Step)
            case time(Timestamp)
        }

        package let pattern: StaticString
        package let values: [Value]

        fileprivate init(_ pattern: StaticString, _ values: Value...) {
            (self.pattern, self.values) = (pattern, values)
        }
    }

    /// The parts of the line, in their order.
    package var parts: [Part] {
        if case .nothing(let latest) = demand {
            return [
                latest.map { Part("Nothing is required, % is the latest", .text($0.text)) }
                    ?? Part("Nothing is required")
            ]
        }
        return [lead, had, push, step].compactMap(\.self)
    }

    private var target: UpgradeTarget? {
        switch demand {
        case .nothing: nil
        case .coming(let target, _), .staged(let target), .inForce(let target): target
        }
    }

    private var lead: Part? {
        switch demand {
        case .nothing: nil
        case .coming(let target, _) where target.isBlock: Part("% will be blocked", .text(target.version.text))
        case .coming(let target, let now?):
            Part("% will be required, % is so far", .text(target.version.text), .text(now.text))
        case .coming(let target, nil): Part("% will be required", .text(target.version.text))
        case .staged(let target) where target.isBlock: Part("% is blocked in steps", .text(target.version.text))
        case .staged(let target): Part("% is required in steps", .text(target.version.text))
        case .inForce(let target) where target.isBlock: Part("% is blocked", .text(target.version.text))
        case .inForce(let target): Part("% is required", .text(target.version.text))
        }
    }

    private var had: Part? {
        guard let obey, let target else { return nil }
        return target.isBlock ? Part("% do not run it", .share(obey)) : Part("% have it", .share(obey))
    }

    private var push: Part? {
        switch pushed {
        case nil: nil
        case .notYet: Part("no push was sent yet")
        case .canary: Part("only the canary was pushed to so far")
        case .share(let share) where next == .nothing || next == .cancelled: Part("% were pushed to", .share(share))
        case .share(let share): Part("% were pushed to so far", .share(share))
        }
    }

    private var step: Part? {
        switch next {
        case .nothing: Part("nothing is left to do")
        case .sending: Part("next step: none, the rest is being sent")
        case .decides(let step): Part("next step: you, to %", .step(step))
        case .afterCanary(let step): Part("next step: you, to %, when the canary is done", .step(step))
        case .afterWave(let step): Part("next step: you, to %, when this wave is done", .step(step))
        case .resumes: Part("next step: you, since it is paused")
        case .mends: Part("next step: you, since something is wrong")
        case .goesOn(let step?, let time?): Part("next step: by itself at %, to %", .time(time), .step(step))
        case .goesOn(let step?, nil): Part("next step: by itself, to %", .step(step))
        case .goesOn(nil, let time?): Part("next step: by itself at %", .time(time))
        case .goesOn(nil, nil): Part("next step: by itself, in a moment")
        case .offer: Part("next step: by itself, when the store offers it")
        case .service: Part("next step: by itself, once pushes are taken again")
        case .cancelled: Part("the rest was cancelled")
        }
    }
}
