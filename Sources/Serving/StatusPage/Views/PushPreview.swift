// SPDX-License-Identifier: Apache-2.0
import RelayAPI
import Requirements
import UpgradeRules
import WireFormat

/// The notification that a phone's system shows for a push.
struct PushPreview: Equatable {
    enum Text: Equatable {
        case plain(String)
        /// A text of the app's own, in the phone's language.
        case own(key: String)
    }

    var title: Text?
    var body: Text?

    init(title: Text? = nil, body: Text? = nil) { (self.title, self.body) = (title, body) }

    /// The words of the configuration.
    init(_ words: PushWords) {
        title = words.appTitle.map { .own(key: $0.key) } ?? words.title.map { .plain($0) }
        body = words.appBody.map { .own(key: $0.key) } ?? .plain(words.body)
    }

    /// Reads a payload as it goes to a push service. nil: the phone shows nothing by itself; the app gets the data, and decides.
    init?(payload: [UInt8]) {
        guard let root = try? JSONReader.read(payload) else { return nil }
        let message = root["message"] ?? root
        let aps = message["aps"] ?? message["apns"]?["payload"]?["aps"]
        // Texts first, in the order in which a phone looks for them.
        let places = [message["android"]?["notification"], aps?["alert"], message["notification"]].compactMap(\.self)
        for place in places {
            if let text = place.string {
                body = body ?? .plain(text)
                continue
            }
            title = title ?? Self.text(place, "title", keys: ["title-loc-key", "title_loc_key"])
            body = body ?? Self.text(place, "body", keys: ["loc-key", "body_loc_key"])
        }
        if title == nil, body == nil { return nil }
    }

    private static func text(_ place: JSONValue, _ name: String, keys: [String]) -> Text? {
        if let key = keys.lazy.compactMap({ place[$0]?.string }).first { return .own(key: key) }
        return place[name]?.string.map { .plain($0) }
    }
}

extension View {
    /// A push as a phone shows it, and the message in the app's languages.
    ///
    /// - Parameters:
    ///   - caption: names the picture.
    ///   - message: the version's own; nil: it has none.
    func preview(
        _ html: inout HTML, _ preview: PushPreview?, of app: AppKey, caption: String, message: LocalizedText? = nil
    ) {
        html.tag("div", [.class("phones")]) { html in
            if let preview {
                phone(&html, app, caption: caption) { html in
                    text(&html, preview.title, [.class("title")])
                    text(&html, preview.body)
                }
            } else {
                html.tag(
                    "p", [.class("quiet")],
                    text: say("The phone shows nothing by itself: the app gets the data, and decides."))
            }
            for translation in message?.translations ?? [] {
                let tag = translation.language.text
                phone(&html, app, caption: say("In the app, in %", tag)) { html in
                    html.tag("p", [.named("lang", tag)]) { $0.foreign(translation.text) }
                }
            }
        }
        if message?.translations.isEmpty == false {
            html.tag(
                "p", [.class("hint")],
                text: say("A push has one text: the languages of phones are not known. The app shows its own language.")
            )
        }
    }

    private func phone(_ html: inout HTML, _ app: AppKey, caption: String, _ content: (inout HTML) -> Void) {
        html.tag("figure", [.class("phone")]) { html in
            html.tag("figcaption", text: caption)
            html.tag("div") { html in
                html.tag("p", [.class("app")]) { html in html.foreign(app.app) }
                content(&html)
            }
        }
    }

    private func text(_ html: inout HTML, _ text: PushPreview.Text?, _ attributes: [Attribute] = []) {
        switch text {
        case .plain(let text): html.tag("p", attributes) { $0.foreign(text) }
        case .own(let key):
            html.tag("p", attributes) { html in
                html.text(say("The app's own text, in the phone's language:") + " ")
                html.tag("code", text: key)
            }
        case nil: break
        }
    }
}
