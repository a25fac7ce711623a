// SPDX-License-Identifier: Apache-2.0
import Requirements
import Testing

@Suite("The question before an act, and the answer after it") struct ActWordsTests {
    @Test(
        arguments: [
            (.raise, "Require 2.0.0 of a ios and push it, 9 devices?", "required"),
            (.release, "Release 2.0.0 of a ios, 9 devices?", "released"),
            (.withdraw, "Withdraw 2.0.0 of a ios, 9 devices?", "withdrawn"),
            (.unblock, "Let 2.0.0 of a ios be used again, 9 devices?", "may be used again"),
            (.pause, "Pause 2.0.0 of a ios, 9 devices?", "paused"),
            (.approve, "Approve 2.0.0 of a ios, 9 devices?", "approved"),
            (.releaseCampaign, "Approve 2.0.0 of a ios, 9 devices?", "approved"),
            (.resume, "Resume 2.0.0 of a ios, 9 devices?", "resumed"),
            (.cancel, "Cancel 2.0.0 of a ios, 9 devices?", "cancelled"),
            (.retry, "Send what is left out of 2.0.0 of a ios again, 9 devices?", "sent again"),
            (.setAlert, "Lock 2.0.0 of a ios for all its users, 9 devices?", "the notice is set"),
            (.clearAlert, "Clear the notice of 2.0.0 of a ios, 9 devices?", "the notice is cleared"),
            (.removeDevice, "Forget 2.0.0 of a ios, 9 devices?", "forgotten"),
            (.eraseUser, "Forget 2.0.0 of a ios, 9 devices?", "forgotten"),
            (.revokeToken, "Revoke 2.0.0 of a ios, 9 devices?", "revoked"),
        ] as [(ActKind, String, String)])
    func words(act: ActKind, question: String, done: String) {
        let words = ActWords(act, "2.0.0 of a ios", devices: 9, effects: ["It stays.", "Next: everybody."])
        #expect(words.question == question)
        #expect(words.answer() == "2.0.0 of a ios, 9 devices: \(done). It stays. Next: everybody.")
        #expect(words.answer("3 left") == "2.0.0 of a ios, 9 devices: 3 left. It stays. Next: everybody.")
    }

    @Test(
        "Every act has its words, with the object in them, and no number where none is known",
        arguments: ActWords.Act.allCases)
    func every(act: ActWords.Act) {
        let words = ActWords(act, "THIS")
        #expect(words.question.contains("THIS") && words.question.hasSuffix("?") && !words.question.contains(", "))
        #expect(words.answer().hasPrefix("THIS: ") && words.answer().hasSuffix("."))
        #expect(ActWords(act, "THIS", devices: 1).question.hasSuffix(", 1 device?"))
    }

    @Test(
        arguments: [
            (.block, "Make everybody leave 2.1.5 of a ios?", "2.1.5 of a ios: blocked. All versions"),
            (.approveRequest, "Approve request 3?", "request 3: approved. Its store"),
            (.refuseRequest, "Refuse request 3?", "request 3: refused. Nothing changes."),
            (.endSession, "End session 3?", "session 3: ended. The rights of its person stay"),
            (.pruneStore, "Delete old data for good?", "old data: deleted. Campaigns stay"),
            (.acceptStore, "Go on with the store as it is?", "the store: in use again. Later decisions"),
        ] as [(ActWords.Act, String, String)])
    func others(act: ActWords.Act, question: String, answer: String) {
        let object = answer.prefix { $0 != ":" }
        let words = ActWords(act, String(object))
        #expect(words.question == question)
        #expect(words.answer().hasPrefix(answer), "\(words.answer())")
    }
}
