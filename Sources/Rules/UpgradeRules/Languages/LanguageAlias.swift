// SPDX-License-Identifier: Apache-2.0

/// Other names of a language under which a text for it may be kept.
///
/// Java keeps the codes that ISO 639 withdrew in 1989 and later (`Locale`, "Legacy language codes"), so phones still ask for "iw".
/// A Chinese region stands for a script: RFC 4647 alone does not find "zh-Hans" for "zh-CN".
enum LanguageAlias {
    /// Withdrawn code, present code.
    private static let codes = [
        ("iw", "he"), ("in", "id"), ("ji", "yi"), ("jw", "jv"), ("mo", "ro"), ("cmn", "zh"), ("nb", "no"),
        ("tl", "fil"),
    ]
    /// The scripts of Chinese, each with the regions whose readers use it; the first script is the default.
    private static let scripts = [("hans", ["cn", "sg", "my"]), ("hant", ["tw", "hk", "mo"])]

    /// - Parameter range: in lower case.
    /// - Returns: the names to look for, in this order. Each is truncated from the end, down to `shortest` characters.
    static func spellings(of range: String) -> [(range: String, shortest: Int)] {
        let language = range.prefix { $0 != "-" }
        let rest = range.dropFirst(language.count)
        var spellings: [(range: String, shortest: Int)] = []
        let others = codes.compactMap { withdrawn, present in
            language == withdrawn ? present : language == present ? withdrawn : nil
        }
        for name in [String(language)] + others {
            guard name == "zh" else {
                spellings.append((name + rest, name.utf8.count))
                continue
            }
            // A text in the reader's script fits better than one for Chinese in general, which is in the script of most
            // readers.
            let (script, regions) = script(of: rest.split(separator: "-"))
            spellings.append((name + rest, "zh-".utf8.count + 1))
            spellings.append(("zh-\(script)", "zh-".utf8.count + 1))
            spellings += regions.map { ("zh-\($0)", "zh-".utf8.count + 1) }
            spellings.append(("zh", "zh".utf8.count))
        }
        return spellings
    }

    /// - Parameter subtags: the subtags after the language.
    private static func script(of subtags: [Substring]) -> (script: String, regions: [String]) {
        scripts.first { script, _ in subtags.contains { $0 == script } }
            ?? scripts.first { _, regions in subtags.contains { regions.contains(String($0)) } } ?? scripts[0]
    }
}
