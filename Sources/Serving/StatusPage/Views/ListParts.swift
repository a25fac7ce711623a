// SPDX-License-Identifier: Apache-2.0

/// The parts that lists share: filters and the link to the next page. Also the buttons that every question has.
extension View {
    /// The button that acts, and the way back.
    func buttons(_ html: inout HTML, _ title: String, isDangerous: Bool, back: PagePath) {
        html.tag("p", [.class("buttons")]) { html in
            html.button(title, isDangerous: isDangerous)
            html.text(" ")
            html.link(back, say("Leave it as it is"), [.class("button")])
        }
    }

    func filters(_ html: inout HTML, _ action: PagePath, _ fields: (inout HTML) -> Void) {
        html.tag("form", [.named("method", "get"), .action(action), .class("filters"), .named("role", "search")]) {
            html in
            fields(&html)
            html.button(say("Show"))
        }
    }

    /// - Parameter next: the cursor of the next page; nil: this is the last.
    func more(_ html: inout HTML, _ list: PagePath, _ next: String?) {
        guard let next else { return }
        html.tag("p", [.class("more")]) { html in
            html.link(list.with("cursor", next), say("Next page"), [.named("rel", "next")])
        }
    }
}

extension HTML {
    mutating func choice(
        _ label: String, name: StaticString, chosen: String, of choices: [(value: String, word: String)]
    ) {
        let id = "field-\(name.description)"
        tag("div", [.class("field")]) { html in
            html.tag("label", [.named("for", id)], text: label)
            html.tag("select", [.id(id), .named("name", name.description)]) { html in
                for choice in choices {
                    html.tag(
                        "option", [.named("value", choice.value), .flag("selected", choice.value == chosen)],
                        text: choice.word)
                }
            }
        }
    }

    mutating func checkbox(_ label: String, name: StaticString, isChecked: Bool = false, fault: String? = nil) {
        let id = "field-\(name.description)"
        tag("div", [.class("check")]) { html in
            let marks: [Attribute] =
                fault == nil ? [] : [.named("aria-describedby", "\(id)-fault"), .named("aria-invalid", "true")]
            html.void(
                "input",
                [
                    .named("type", "checkbox"), .id(id), .named("name", name.description), .named("value", "yes"),
                    .flag("checked", isChecked),
                ] + marks)
            html.tag("label", [.named("for", id)], text: label)
        }
        if let fault { tag("p", [.id("\(id)-fault"), .class("fault"), .named("role", "alert")], text: fault) }
    }
}
