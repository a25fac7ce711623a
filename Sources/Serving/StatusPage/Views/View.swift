// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import RelayAPI
import RelayEngine
import RelayStore
import Requirements
import UpgradeRules
import WireFormat

/// One request for a page: the caller, the language, and the part that is wanted.
struct View {
    let api: API
    let head: RequestHead
    let caller: Caller
    let language: PageLanguage
    let zone: PageZone
    let now: Timestamp
    /// The id of the only part to show; nil: the whole page.
    var part: String?

    init(_ api: API, _ call: inout Call) {
        self.init(api, call.head, api.caller(of: call))
        part = call.query.text("part")
    }

    init(_ api: API, _ call: Call) { self.init(api, call.head, api.caller(of: call)) }

    init(_ api: API, _ head: RequestHead, _ caller: Caller = .anonymous) {
        (self.api, self.head, self.caller) = (api, head, caller)
        language = PageLanguage(of: head)
        zone = PageZone(of: head)
        now = api.now()
    }

    func say(_ english: StaticString, _ values: String...) -> String { language.say(english, values) }

    func may(_ scope: Scope) -> Bool { caller.may(scope) }
    func may(_ scope: Scope, on app: AppKey) -> Bool { caller.may(scope, on: app.app) }
    func maySee(_ app: AppKey) -> Bool { caller.maySee(app) }

    /// - Throws: a 403 that names the scope.
    func need(_ scope: Scope) throws {
        guard may(scope) else {
            if let person = caller.person {
                throw ProblemDetails(
                    403,
                    say(
                        "This needs the scope “%”, which none of your groups gives: %.", scope.rawValue,
                        groups(of: person)))
            }
            throw ProblemDetails(403, say("This needs the scope “%”, which your API token lacks.", scope.rawValue))
        }
    }

    /// How much of users' data the reader may see.
    var sight: Redaction { caller.sight }
}

extension HTML {
    /// A user's number. For a reader who may see whole numbers, it links to the user's page.
    mutating func telephone(_ number: String?, _ sight: Redaction) {
        guard let number else { return text("–") }
        let shown = sight.telephone(number)
        guard sight == .whole else { return foreign(shown) }
        link(PagePath("page", "users").with("telephone", number), shown)
    }

    /// A push token, shortened, with the same link.
    mutating func token(_ token: String, _ sight: Redaction) {
        guard sight == .whole else { return tag("code", text: sight.token(token)) }
        link(PagePath("page", "users").with("token", token), "\(token.prefix(16))…")
    }

    /// A moment in the chosen zone. In the browser's own it is UTC until the script has run.
    mutating func time(_ moment: Timestamp) {
        tag("time", [.named("datetime", moment.internetTime)], text: zone.text(moment))
    }

    /// "–" where there is none.
    mutating func time(_ moment: Timestamp?) {
        if let moment { time(moment) as Void } else { text("–") }
    }

    /// A term and its value, in a description list.
    mutating func fact(_ term: String, _ value: (inout HTML) -> Void) {
        tag("div") { html in
            html.tag("dt", text: term)
            html.tag("dd", [], value)
        }
    }

    mutating func link(_ path: PagePath, _ text: String, _ attributes: [Attribute] = []) {
        tag("a", [.href(path)] + attributes, text: text)
    }

    /// A table with its headings. On a narrow screen it scrolls on its own, by the keyboard, too.
    mutating func table(
        _ caption: String, _ columns: [String], isCaptionShown: Bool = false, _ rows: (inout HTML) throws -> Void
    ) rethrows {
        try tag(
            "div",
            [.class("scroll"), .named("tabindex", "0"), .named("role", "group"), .named("aria-label", caption)]
        ) { html in
            try html.tag("table") { html in
                html.tag("caption", [.class(isCaptionShown ? "" : "unseen")], text: caption)
                html.tag("thead") { html in
                    html.tag("tr") { html in
                        for column in columns { html.tag("th", [.named("scope", "col")], text: column) }
                    }
                }
                try html.tag("tbody", [], rows)
            }
        }
    }

    mutating func row(_ head: (inout HTML) -> Void, _ cells: [(inout HTML) -> Void]) {
        tag("tr") { html in
            html.tag("th", [.named("scope", "row")], head)
            for cell in cells { html.tag("td", [], cell) }
        }
    }

    /// A form that changes something.
    mutating func form(
        _ view: View, _ action: PagePath, _ attributes: [Attribute] = [], _ content: (inout HTML) -> Void
    ) {
        tag("form", [.named("method", "post"), .action(action)] + attributes) { html in
            if let session = view.caller.session {
                html.void(
                    "input",
                    [.named("type", "hidden"), .named("name", "formToken"), .named("value", session.formToken)])
            }
            content(&html)
        }
    }

    mutating func button(_ text: String, isDangerous: Bool = false, _ attributes: [Attribute] = []) {
        tag("button", [.named("type", "submit"), .class(isDangerous ? "danger" : "")] + attributes, text: text)
    }

    /// A field with its label and its fault.
    mutating func field(
        _ label: String, name: StaticString, value: String = "", hint: String? = nil, fault: String? = nil,
        _ attributes: [Attribute] = []
    ) {
        let id = "field-\(name.description)"
        tag("div", [.class("field")]) { html in
            html.tag("label", [.named("for", id)], text: label)
            var described: [String] = []
            if hint != nil { described.append("\(id)-hint") }
            if fault != nil { described.append("\(id)-fault") }
            var all: [Attribute] = [
                .id(id), .named("name", name.description), .named("value", value), .named("autocomplete", "off"),
            ]
            if !described.isEmpty { all.append(.named("aria-describedby", described.joined(separator: " "))) }
            if fault != nil { all.append(.named("aria-invalid", "true")) }
            html.void("input", all + attributes)
            if let hint { html.tag("p", [.id("\(id)-hint"), .class("hint")], text: hint) }
            if let fault { html.tag("p", [.id("\(id)-fault"), .class("fault")], text: fault) }
        }
    }
}
