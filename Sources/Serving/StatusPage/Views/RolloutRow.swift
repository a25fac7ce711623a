// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// The way of a campaign to its users as a row of steps: canary, waves, everybody.
extension View {
    func rollout(_ html: inout HTML, _ status: CampaignStatus) {
        let stages = Rollout.stages(of: status.record, status.waveRules)
        html.tag("ol", [.class("steps"), .named("aria-label", say("The steps of the rollout"))]) { html in
            for stage in stages {
                let isCurrent = stage.state == .current
                html.tag(
                    "li", [.class(stage.state.rawValue)] + (isCurrent ? [.named("aria-current", "step")] : [])
                ) { html in
                    html.tag("p") { html in
                        html.tag("strong", text: title(stage.step))
                        html.text(" ")
                        html.tag("span", [.class("badge")], text: word(stage.state))
                    }
                    figures(&html, stage)
                    if stage.state == .next || stage.state == .later { start(&html, stage, status) }
                }
            }
        }
    }

    private func figures(_ html: inout HTML, _ stage: Rollout.Stage) {
        html.tag("dl") { html in
            if let figures = stage.figures {
                html.fact(say("Devices")) { $0.text(number(figures.devices)) }
                html.fact(word(DeliveryState.accepted)) { html in
                    html.text("\(number(figures.accepted)) (\(percent(figures.accepted, of: figures.devices)))")
                }
                let pushes = figures.accepted + figures.failed + figures.retrying
                html.fact(say("Failed")) { html in
                    html.text(number(figures.failed))
                    if figures.failed > 0 { html.text(" (\(percent(figures.failed, of: pushes)))") }
                }
                if figures.retrying > 0 { html.fact(say("Tried again")) { $0.text(number(figures.retrying)) } }
                if figures.pending > 0 { html.fact(word(DeliveryState.pending)) { $0.text(number(figures.pending)) } }
            }
            if let begunAt = stage.begunAt { html.fact(say("Begun")) { $0.time(begunAt) } }
            if let endedAt = stage.endedAt, stage.state == .done || stage.state == .current {
                html.fact(say("Ended")) { $0.time(endedAt) }
            }
        }
    }

    /// The condition under which a step begins.
    private func start(_ html: inout HTML, _ stage: Rollout.Stage, _ status: CampaignStatus) {
        html.tag("p", [.class("hint")]) { html in
            switch stage.start {
            case .requirement: html.text(say("Begins when the version is in force."))
            case .person: html.text(say("A person begins it."))
            case .itself(let pause, let failedShare):
                if stage.state == .next, let at = status.nextWaveAt {
                    html.text(say("Begins at") + " ")
                    html.time(at)
                    html.text(say("."))
                } else if pause > .zero {
                    html.text(say("Begins % after the step before.", duration(seconds: pause.milliseconds / 1000)))
                } else {
                    html.text(say("Begins right after the step before."))
                }
                guard let failedShare else { return }
                let parts = Int((failedShare * Double(WavePlan.parts)).rounded())
                html.text(
                    " "
                        + say(
                            "If more than % of the pushes fail, a person decides.", "\(WavePlan.percentText(parts)) %"))
            case .unknown: break
            }
        }
    }

    private func title(_ step: Rollout.Step) -> String {
        switch step {
        case .canary: "\(say("Canary")): \(words(step))"
        case .share: words(step)
        case .everybody: say("Everybody")
        }
    }

    private func word(_ state: Rollout.Stage.State) -> String {
        switch state {
        case .done: say("done")
        case .current: say("now")
        case .next: say("next")
        case .later: say("later")
        case .leftOut: say("left out")
        }
    }
}
