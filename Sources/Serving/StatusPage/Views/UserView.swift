// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules

/// One user or one token: every campaign and its result, in sentences that support can read out.
extension View {
    func user(_ query: inout Query) throws -> Response {
        try need(.users)
        let telephone = query.filledText("telephone")
        let token = query.filledText("token")
        let numbers = (devices: Self.pageNumber(in: &query, "devices"), pushes: Self.pageNumber(in: &query, "pushes"))
        try query.finish()
        return try page(say("A user"), at: .users) { html in
            filters(&html, PagePath("page", "users")) { html in
                html.field(say("Phone number"), name: "telephone", value: telephone ?? "", [.named("inputmode", "tel")])
                html.field(say("or push token"), name: "token", value: token ?? "")
            }
            if let telephone {
                try explain(&html, telephone, numbers)
            } else if let token {
                try explain(&html, token: token, numbers)
            }
        }
    }

    /// The users that a token belongs to; without a user, the pushes to it.
    private func explain(_ html: inout HTML, token: String, _ numbers: (devices: Int?, pushes: Int?)) throws {
        let devices = try api.store.devices(telephone: nil, token: token, after: 0, limit: 100)
            .filter { maySee($0.registration.app) }
        let users = Set(devices.compactMap(\.registration.telephone)).sorted()
        if devices.isEmpty { html.tag("p", [.class("notice")], text: say("No device has this token.")) }
        for user in users { try explain(&html, user, numbers) }
        guard users.isEmpty, !devices.isEmpty else { return }
        html.tag(
            "p", [.class("notice")],
            text: say("No user is logged in on the device with this token, so it gets no push."))
        let pushes = ListSlice(
            try api.store.deliveries(DeliveryFilter(token: token), after: nil, limit: 200).filter { maySee($0.app) },
            page: numbers.pushes)
        html.tag("ul") { html in for push in pushes.items { html.tag("li") { self.push(&$0, push, nil) } } }
        pages(&html, pushes, PagePath("page", "users").with("token", token), "pushes", at: "main")
    }

    private func explain(
        _ html: inout HTML, _ telephone: String, _ numbers: (devices: Int?, pushes: Int?)
    ) throws {
        let user = try api.userExplainer.explain(telephone) { maySee($0) }
        html.tag("h2") { html in html.foreign(sight.telephone(telephone)) }
        guard user.isKnown else {
            html.tag("div", [.class("notice")]) { html in
                html.tag("p", text: say("Nobody is known by this phone number."))
                html.tag("p") { reason(&$0, user.spelling) }
                known(&html, as: user.similar)
            }
            return
        }
        for summary in user.summaries { self.summary(&html, summary, isNamed: user.summaries.count > 1) }
        for app in user.apps { self.app(&html, app, of: telephone, numbers) }
        guard may(.devices) else { return }
        html.tag("p") { html in
            html.link(
                PagePath("page", "users", "erase").with("telephone", telephone), say("Erase this user"),
                [.class("button danger")])
        }
    }

    /// Registered users whose telephone is similar to one that is not registered.
    func known(_ html: inout HTML, as similar: [String]) {
        for other in similar {
            html.tag("p") { html in
                html.text(say("Somebody is known as") + " ")
                html.telephone(other, sight)
            }
        }
    }

    private func app(
        _ html: inout HTML, _ app: UserExplanation.App, of telephone: String, _ numbers: (devices: Int?, pushes: Int?)
    ) {
        let devices = ListSlice(app.devices, page: numbers.devices, size: 10)
        let pushes = ListSlice(app.pushes, page: numbers.pushes)
        let list = PagePath("page", "users").with("telephone", telephone)
        html.tag("section", [.class("card")]) { html in
            html.tag("h3") { $0.foreign(name(app.app)) }
            html.tag("p") { html in
                html.text(
                    say(
                        "Required: %, in force: %.", app.record?.required?.text ?? "–",
                        app.record?.inForce.required?.text ?? "–"))
            }
            if let stage = app.stage { html.tag("p", text: text(stage)) }
            for device in devices.items { self.device(&html, device) }
            if devices.pageCount > 1 { pages(&html, devices, list, "devices", at: "main") }
            if app.devices.isEmpty { html.tag("p", text: say("No device of this user is registered for the app now.")) }
            html.tag("h4", text: say("Pushes"))
            guard !app.pushes.isEmpty else { return html.tag("p", text: say("No campaign had a push for this user.")) }
            html.tag("ul") { html in
                for push in pushes.items { html.tag("li") { self.push(&$0, push.delivery, push.target) } }
            }
            if pushes.pageCount > 1 { pages(&html, pushes, list, "pushes", at: "main") }
        }
    }

    private func text(_ stage: UserExplanation.Stage) -> String {
        let version = stage.rule.version.text
        if stage.isNamed { return say("% has come to this user, who is named by the canary.", version) }
        return stage.isReached
            ? say("% has come to this user with its wave.", version)
            : say("% has not come to this user's wave yet.", version)
    }

    private func device(_ html: inout HTML, _ device: UserExplanation.Device) {
        let registration = device.record.registration
        html.tag("h4") { html in
            html.text(say("Device") + " ")
            html.tag(
                "code", text: sight == .whole ? "\(registration.token.prefix(12))…" : sight.token(registration.token))
        }
        html.tag("p") { html in
            html.text(say("Runs %", registration.version?.text ?? say("an unknown version")))
            for value in values(of: registration) { html.text(", " + value) }
            html.text(", " + say("registered at") + " ")
            html.time(device.record.registeredAt)
            if let retired = device.record.retiredAt {
                html.text(". " + say("The push service declared its token dead at") + " ")
                html.time(retired)
            }
            html.text(".")
        }
        html.tag("ul") { html in
            channel(&html, say("Push"), device.push)
            channel(&html, say("At login"), device.login)
            channel(&html, say("By a proxy"), device.enforce)
            channel(&html, say("By the launch document"), device.launchDocument)
        }
    }

    private func channel(_ html: inout HTML, _ channel: String, _ word: UserExplanation.Word) {
        html.tag("li") { html in
            html.tag("strong", text: "\(channel): \(text(word.says)).")
            html.text(" ")
            reason(&html, word.why)
        }
    }

    private func text(_ word: UserExplanation.Word.Says) -> String {
        switch word {
        case .pushed: say("a push was taken")
        case .due: say("a push is due")
        case .notPushed: say("no push")
        case .mustUpgrade: say("must upgrade")
        case .mayUpgrade: say("may upgrade")
        case .alert: say("an alert is shown")
        case .nothing: say("nothing is asked")
        case .denied: say("is turned away")
        case .passes: say("is let through")
        case .unknown: say("not known")
        }
    }

    /// One push as a sentence.
    private func push(_ html: inout HTML, _ delivery: Delivery, _ target: UpgradeTarget?) {
        html.time(delivery.updatedAt)
        html.text(": ")
        let title = target.map(name) ?? delivery.campaign
        if may(.status) {
            html.link(PagePath("page", "campaigns", delivery.campaign), title)
        } else {
            html.foreign(title)
        }
        html.text(" – \(text(delivery.state))")
        if let reason = delivery.reason {
            html.foreign(
                " (\(FilterReason(rawValue: reason).map { word($0, isBlock: target?.isBlock ?? false) } ?? reason))")
        }
        if delivery.attempts > 1 { html.text(", " + say("after % attempts", String(delivery.attempts))) }
        html.text(".")
    }

    private func text(_ state: DeliveryState) -> String {
        switch state {
        case .pending: say("the push has not been sent yet")
        case .inFlight: say("the push is on its way to the push service")
        case .accepted: say("the push service took the push")
        case .retrying: say("the push service did not take the push, and it is tried again")
        case .rejected: say("the push service refused the push for good")
        case .unregistered: say("the push service said that the app is no longer on the device")
        case .expired: say("the push was not taken in time")
        case .filtered: say("no push was sent, by rule")
        case .cancelled: say("no push was sent: the campaign was cancelled or superseded")
        }
    }

    // MARK: Erasing

    func confirmErasure(_ telephone: String, fault: String? = nil, stale: Stale? = nil) throws -> Response {
        try need(.devices)
        let shown = try api.shown(ofUser: telephone, caller)
        var devices: Int64 = 0
        if case .number(let number)? = shown.facts[.devices] { devices = number }
        let similar = try api.userSearch.similar(to: telephone, where: maySee)
        let status = stale != nil ? 409 : fault == nil ? 200 : 422
        return page(say("Erase this user"), at: .users, status: status) { html in
            notice(&html, stale)
            html.tag("p") { html in
                html.foreign(telephone)
                html.text(": \(self.devices(devices))")
            }
            known(&html, as: similar)
            html.tag(
                "p",
                text: say("The devices are removed, and the number goes out of every record. This cannot be undone."))
            html.form(self, PagePath("page", "users", "erase")) { html in
                html.hidden("telephone", telephone)
                html.carries(.eraseUser, shown)
                html.field(say("Type the phone number again"), name: "again", fault: fault, [.flag("required")])
                buttons(
                    &html, say("Erase this user"), isDangerous: true,
                    back: PagePath("page", "users").with("telephone", telephone))
            }
        }
    }

    func erase(_ fields: FormFields) throws -> Response {
        try need(.devices)
        let telephone = fields.exact("telephone") ?? ""
        // White space around the typed number is ignored, unless the number itself has some.
        guard fields.exact("again") == telephone || fields["again"] == telephone else {
            return try confirmErasure(telephone, fault: say("This is not the same phone number."))
        }
        return try perform(.eraseUser, fields) { caller in
            var query = Query([RequestTarget.QueryItem(name: "telephone", value: telephone)])
            _ = try api.eraseUser(&query, caller)
            return page(say("The user is erased"), at: .users) { html in
                html.tag(
                    "p", [.named("role", "status")], text: say("Nothing is known of this phone number any more."))
            }
        } again: {
            try confirmErasure(telephone, stale: $0)
        }
    }
}
