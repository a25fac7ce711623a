// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules

@testable import StatusPage

/// The notification that a phone shows, as the page reads it from the payload that is sent.
@Suite struct PushPreviewTests {
    private static func payload(_ words: PushWords) -> [UInt8] {
        UpgradePayload(type: "needUpgrade", words: words, downloadURL: "https://example.com").render(
            userTelephone: "138")
    }

    private static var titled: PushWords {
        var words = PushWords("Please upgrade.")
        words.title = "A \"new\" version"
        return words
    }

    private static var own: PushWords {
        var words = PushWords("unused")
        words.appTitle = PushWords.AppText(key: "TITLE")
        words.appBody = PushWords.AppText(key: "BODY", arguments: ["2.0"])
        return words
    }

    @Test(arguments: [
        (PushWords("Please upgrade."), PushPreview(body: .plain("Please upgrade."))),
        (titled, PushPreview(title: .plain("A \"new\" version"), body: .plain("Please upgrade."))),
        (own, PushPreview(title: .own(key: "TITLE"), body: .own(key: "BODY"))),
    ])
    func `An iPhone shows the words of the payload, and the configuration's words show the same`(
        words: PushWords, preview: PushPreview
    ) {
        #expect(PushPreview(payload: Self.payload(words)) == preview)
        #expect(PushPreview(words) == preview)
    }

    @Test(
        arguments: [
            (#"{"message":{"data":{"page":"{}"},"android":{"priority":"high"}}}"#, nil),
            (
                #"{"message":{"notification":{"title":"T","body":"B"},"android":{"notification":{"sound":"x"}}}}"#,
                PushPreview(title: .plain("T"), body: .plain("B"))
            ),
            (
                #"{"message":{"notification":{"title":"T"},"android":{"notification":{"body_loc_key":"K"}}}}"#,
                PushPreview(title: .plain("T"), body: .own(key: "K"))
            ),
            (
                #"{"message":{"apns":{"payload":{"aps":{"alert":{"title":"T","loc-key":"K"}}}}}}"#,
                PushPreview(title: .plain("T"), body: .own(key: "K"))
            ),
            ("{", nil), ("[]", nil), (#"{"aps":{"alert":7}}"#, nil),
        ] as [(String, PushPreview?)])
    func `A message without texts shows nothing by itself`(payload: String, preview: PushPreview?) {
        #expect(PushPreview(payload: Array(payload.utf8)) == preview)
    }
}
