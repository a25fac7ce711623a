// SPDX-License-Identifier: Apache-2.0
package import RelayEngine
package import UpgradeRules
import WireFormat

/// Writes the moment from which a version is required into a message, on every channel: a date as the message's language
/// writes it, by the clocks of the app's zone.
package struct MomentWords: Hashable, Sendable {
    /// The text that stands for the moment in a message.
    package static let place = "{requiredFrom}"

    /// The app's time zone (`pace.hours.zone`); nil: UTC, which the text then names.
    package var zone: LocalZone?

    package init(zone: LocalZone? = nil) { self.zone = zone }

    /// A message with the moment in it, in each of its languages.
    package func worded(_ message: LocalizedText, from moment: Timestamp?) -> LocalizedText {
        guard let moment else { return message }
        return LocalizedText(
            worded(message.text, in: message.defaultLanguage, from: moment),
            message.translations.map { .init($0.language, worded($0.text, in: $0.language, from: moment)) })
    }

    private func worded(_ text: String, in language: LanguageTag?, from moment: Timestamp) -> String {
        guard text.contains(Self.place) else { return text }
        return text.replacing(Self.place, with: date(moment, in: language?.primary ?? Self.language(ofScriptIn: text)))
    }

    /// The language of a text without a named one, where its script belongs to one language; nil: it may be any.
    private static func language(ofScriptIn text: String) -> String? {
        var language: String?
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x3040...0x30FF: return "ja"
            case 0xAC00...0xD7A3: return "ko"
            case 0x4E00...0x9FFF: language = "zh"
            default: break
            }
        }
        return language
    }

    /// "1 December 2026, 09:00", "2026年12月1日 09:00"; in a language whose form is not known here, the date of ISO 8601.
    func date(_ moment: Timestamp, in language: String?) -> String {
        let text = (zone?.local(moment) ?? moment).internetTime
        let parts = text.prefix(10).split(separator: "-")
        let time = text.dropFirst(11).prefix(5)
        guard parts.count == 3, let month = Int(parts[1]), let day = Int(parts[2]) else { return text }
        let year = parts[0]
        let end = zone == nil ? " UTC" : ""
        func named(_ form: Form) -> String {
            "\(day)\(form.behindDay) \(form.months[month - 1])\(form.behindMonth) \(year)\(form.behindYear) \(time)\(end)"
        }
        switch language {
        case "zh", "ja": return "\(year)年\(month)月\(day)日 \(time)\(end)"
        case "ko": return "\(year)년 \(month)월 \(day)일 \(time)\(end)"
        case let language?: return Self.forms[language].map(named) ?? "\(text.prefix(10)) \(time)\(end)"
        case nil: return "\(text.prefix(10)) \(time)\(end)"
        }
    }

    /// Day, month, year and time, as CLDR's long form has them.
    private struct Form {
        var months: [String]
        var behindDay = ""
        var behindMonth = ""
        var behindYear = ","

        init(_ months: String) { self.months = months.split(separator: " ").map(String.init) }
    }

    private static let forms: [String: Form] = {
        var forms = [
            "en": Form("January February March April May June July August September October November December"),
            "de": Form("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
            "fr": Form("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
            "it": Form("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
            "es": Form("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
            "pt": Form("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
            "nl": Form("januari februari maart april mei juni juli augustus september oktober november december"),
            "ru": Form("января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
        ]
        forms["de"]?.behindDay = "."
        forms["fr"]?.behindYear = " à"
        forms["ru"]?.behindYear = " г.,"
        for language in ["es", "pt"] {
            forms[language]?.behindDay = " de"
            forms[language]?.behindMonth = " de"
        }
        return forms
    }()
}

extension LocalizedText {
    /// The language of the default text, where a translation in a named language is the same text.
    package var defaultLanguage: LanguageTag? {
        translations.first { $0.text.utf8.elementsEqual(text.utf8) }?.language
    }
}
