// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// Raising the required version, or blocking versions: the dry run first, then the button.
extension View {
    /// - Parameters:
    ///   - form: the form as it was sent; nil: it is empty.
    ///   - problem: the faults in it.
    func raise(_ key: AppKey, _ form: RaiseForm? = nil, _ problem: ProblemDetails? = nil) throws -> Response {
        try need(.versions)
        try api.require(key)
        let version = try api.store.version(of: key).map(api.control.requirements.status)
        return page("\(say("Raise or block a version")): \(name(key))", at: .overview, status: problem?.status ?? 200) {
            html in
            let faults = problem?.faults ?? []
            // A fault of a field that the form does not have, and a problem without a field.
            let others = faults.filter { fault in !RaiseForm.names.contains { fault.isOf($0) } }.map(\.description)
            for text in faults.isEmpty ? [problem?.detail].compactMap(\.self) : others {
                html.tag("div", [.class("notice bad"), .named("role", "alert")]) { html in
                    html.tag("p") { reason(&$0, text) }
                }
            }
            html.tag("dl", [.class("facts")]) { versions(&$0, version) }
            html.tag("p", text: say("First you see whom it would reach. Nothing changes before you confirm that."))
            if let words = api.control.profile(of: key)?.words {
                preview(
                    &html, PushPreview(words), of: key, caption: say("The push, where the message is left empty"))
            }
            html.form(
                self, path(key, "raise"),
                [.class("narrow"), .named("data-keep", "raise \(key.app) \(key.platform.rawValue)")]
            ) { html in
                raiseFields(&html, form, faults)
                for other in otherPlatforms(key) {
                    alsoFields(&html, other, form ?? RaiseForm(fields: .empty, key: key))
                }
                html.void(
                    "input",
                    [
                        .named("type", "hidden"), .named("name", RaiseForm.zone.description),
                        .named("value", zone.name ?? "UTC"), .flag("data-zone", zone.name == nil),
                    ])
                html.tag("p", [.class("buttons")]) {
                    $0.button(say("Show whom it would reach"), [.named("name", "step"), .named("value", "plan")])
                }
            }
        }
    }

    private func raiseFields(_ html: inout HTML, _ form: RaiseForm?, _ faults: [FieldFault]) {
        func field(_ html: inout HTML, _ label: String, _ name: StaticString, _ hint: String? = nil) {
            let fault = faults.first { $0.isOf(name) }?.reason
            html.field(
                label, name: name, value: form?.fields[name.description] ?? "", hint: hint,
                fault: fault.map { language.reason($0).text })
        }
        field(&html, say("Required version"), "required", say("Users of older versions must upgrade."))
        field(&html, say("Latest version"), "latest", say("Announced at login, not pushed."))
        field(&html, say("Blocked versions"), "blocked", say("Exactly these must be left; several with commas."))
        for term in RequirementField.allCases { field(&html, say(term.label), term.name, say(term.hint)) }
        field(&html, say("Download address"), "downloadUrl", say("Empty: that of the configuration."))
        field(&html, say("Message"), "message", say("Empty: that of the configuration."))
        field(&html, say("Canary"), "telephones", say("Phone numbers of the users who get it first; empty: everybody."))
        html.checkbox(say("Whatever the hour"), name: "now", isChecked: form?.fields["now"] != nil)
    }

    /// The same app on the other platforms.
    private func otherPlatforms(_ key: AppKey) -> [AppKey] {
        api.control.apps().filter { $0.app == key.app && $0.platform != key.platform }
    }

    /// The box that makes it one release for another platform, too, and what is different there.
    private func alsoFields(_ html: inout HTML, _ other: AppKey, _ form: RaiseForm) {
        let also = RaiseForm.also(other.platform)
        html.checkbox(
            say("Also for %: one release", name(other)), name: also, isChecked: form.fields[also.description] != nil)
        let minimum = form.minimumOS(other)
        html.field(
            say("Oldest system on %", other.platform == .ios ? "iOS" : "Android"), name: minimum,
            value: form.fields[minimum.description] ?? "")
    }

    /// The dry run, or the act once it is confirmed.
    func raise(_ key: AppKey, sent fields: FormFields) throws -> Response {
        try need(.versions)
        let form = RaiseForm(fields: fields, key: key)
        if fields["step"] == "edit" { return try raise(key, form) }
        do {
            guard fields["step"] == "raise" else { return try plan(key, form) }
            // The question had a box to tick, and it came back unticked.
            let hasDoubts = form.keys.contains { fields["\(form.prefix($0))\(RaiseForm.doubts)"] != nil }
            if fields["confirm"] == nil, hasDoubts { return try plan(key, form, isUnticked: true) }
            return try perform(.raise, fields) { caller in
                if form.keys.count > 1 {
                    guard let body = form.bodyOfAll() else { return try plan(key, form, stale: Stale(changes: [])) }
                    _ = try api.bump(platformsOf: key.app, body: body, by: self.caller)
                } else {
                    _ = try api.bump(key, body: form.body(of: key, confirming: form.confirmed(of: key)), by: caller)
                }
                let waits = try form.keys.contains {
                    try api.openApprovals(of: $0).contains { $0.approval.asked.person == caller.actor.person }
                }
                return PageHeaders.redirect(to: waits ? PagePath("page", "approvals") : path(key))
            } again: {
                try plan(key, form, stale: $0)
            }
        } catch {
            let problem = api.problem(error, at: "POST /page/apps/{app}/{platform}/raise")
            return try raise(key, form, problem)
        }
    }

    /// - Parameter isUnticked: whether the question was answered without the box that it asks to tick.
    private func plan(
        _ key: AppKey, _ form: RaiseForm, stale: Stale? = nil, isUnticked: Bool = false
    ) throws -> Response {
        // Read before the plans, so that a change in between is found at the confirmation.
        let shown = try form.keys.map { try api.shown(.required($0)) }
        let plans = try form.keys.map { try api.planned($0, body: form.body(of: $0), by: caller) }
        let status = stale != nil ? 409 : isUnticked ? 422 : 200
        let names = form.keys.map(name).joined(separator: ", ")
        return page("\(say("Whom it would reach")): \(names)", at: .overview, status: status) { html in
            notice(&html, stale)
            let (toPush, audience) = (
                plans.reduce(0) { $0 + $1.report.toPush }, plans.reduce(0) { $0 + $1.report.survey.audience }
            )
            html.tag("p", [.class("result"), .named("role", "status")]) { html in
                html.tag("strong", text: devices(toPush))
                html.text(" " + say("would be pushed to, of %.", number(audience)))
            }
            for (key, plan) in zip(form.keys, plans) {
                if plans.count > 1 { html.tag("h2") { $0.foreign(name(key)) } }
                planned(&html, plan.report, plan.warnings, of: key, level: plans.count > 1 ? "h3" : "h2")
            }
            html.form(self, path(key, "raise")) { html in
                for name in form.carried {
                    guard let value = form.fields[name] else { continue }
                    html.hidden(name, value)
                }
                for (key, shown) in zip(form.keys, shown) {
                    html.carries(.raise, shown, prefix: form.prefix(key))
                }
                let doubtful = zip(form.keys, plans.map(\.report.doubts)).filter { !$0.1.isEmpty }
                for (key, doubts) in doubtful {
                    html.hidden("\(form.prefix(key))\(RaiseForm.doubts)", RaiseForm.text(doubts))
                    for doubt in doubts { html.tag("p", [.class("notice")], text: words(doubt)) }
                }
                if !doubtful.isEmpty {
                    html.checkbox(
                        say("I mean it."), name: "confirm",
                        fault: isUnticked ? say("Nothing was done: tick this box if it is meant.") : nil)
                }
                html.tag("p", [.class("buttons")]) { html in
                    html.button(
                        label(of: plans.map(\.report)), isDangerous: true,
                        [.named("name", "step"), .named("value", "raise")])
                    html.text(" ")
                    html.button(say("Change it"), [.named("name", "step"), .named("value", "edit"), .class("plain")])
                }
            }
        }
    }

    private func label(of reports: [PlanReport]) -> String {
        let toPush = devices(reports.reduce(0) { $0 + $1.toPush })
        if reports.allSatisfy(\.isAboutBlocks) { return say("Block it for %", toPush) }
        let canaries = reports.compactMap(\.canary)
        return canaries.isEmpty
            ? say("Raise it for %", toPush) : say("Raise it for % first", devices(canaries.reduce(0, +)))
    }

    /// One platform's dry run.
    private func planned(
        _ html: inout HTML, _ report: PlanReport, _ warnings: [String], of key: AppKey, level: StaticString
    ) {
        for text in warnings + [report.wait?.reason].compactMap(\.self) {
            html.tag("p", [.class("notice")]) { reason(&$0, text) }
        }
        planFacts(&html, report, of: key)
        html.tag(level, text: say("Devices that would get no push"))
        filtered(&html, report)
        html.tag(level, text: say("A phone would get"))
        preview(
            &html, PushPreview(payload: report.samplePayload), of: key, caption: say("On the phone"),
            message: message(of: report))
        html.tag("details", [.id("payload-\(key.platform.rawValue)"), .flag("open")]) { html in
            html.tag("summary", text: say("The whole push: % bytes", number(Int64(report.samplePayloadSize))))
            html.tag("pre", [.named("tabindex", "0")], text: String(decoding: report.samplePayload, as: UTF8.self))
        }
    }

    /// The message of the version that the push would be about.
    private func message(of report: PlanReport) -> LocalizedText? {
        guard let planned = report.planned else { return nil }
        let rows = planned.requirements
        let row = report.isAboutBlocks ? rows.blocks.first : rows.required
        return row.flatMap { rows.words(of: $0, api.control.profile(of: planned.app)?.moments ?? MomentWords()) }
    }

    private func words(_ doubt: Doubt) -> String {
        switch doubt.reason {
        case .implausibleRise:
            say("% is not known: no store offers it, and no device was seen with it.", doubt.version.text)
        case .nothingAbove:
            say(
                "Nothing above % is known that is not blocked: its users would find no other version.",
                doubt.version.text)
        }
    }

    private func planFacts(_ html: inout HTML, _ report: PlanReport, of app: AppKey) {
        html.tag("dl", [.class("facts")]) { html in
            if let required = report.required { html.fact(say("Required")) { $0.text(required.text) } }
            for block in report.blocks {
                html.fact(say("Blocked")) { $0.text("\(block.version.text): \(devices(block.toPush))") }
            }
            if let canary = report.canary { html.fact(say("Canary")) { $0.text(devices(canary)) } }
            for (channel, toPush) in report.pushesOfChannels {
                html.fact("\(say("Push service")): \(channel.title(on: app.platform))") { $0.text(devices(toPush)) }
            }
            if let waves = report.waves {
                html.fact(say("Waves")) { html in
                    html.text(waves.ends.map { "\(WavePlan.percentText($0)) %" }.joined(separator: ", "))
                }
            }
            if let hours = report.hours { html.fact(say("Begins at")) { $0.time(hours.until) } }
            if let known = report.largestKnown {
                html.fact(say("Highest version beyond doubt")) { $0.text(known.text) }
            }
        }
    }

    private func filtered(_ html: inout HTML, _ report: PlanReport) {
        let rows = FilterReason.allCases.map { ($0, report.survey.filteredBy[$0] ?? 0) }.filter { $0.1 > 0 }
        guard !rows.isEmpty else { return html.tag("p", [.class("quiet")], text: say("Nobody.")) }
        html.table(say("Devices that would get no push"), [say("Reason"), say("Devices")]) { html in
            for (reason, count) in rows {
                html.row({ $0.text(word(reason, isBlock: report.isAboutBlocks)) }, [{ $0.text(number(count)) }])
            }
        }
    }
}

extension FieldFault {
    /// Whether it is about this member of a body, or about an item of it.
    fileprivate func isOf(_ name: StaticString) -> Bool {
        let name = name.description
        return field == name || field.hasPrefix("\(name)[") || field.hasPrefix("\(name).")
    }
}
