// SPDX-License-Identifier: Apache-2.0
import Telemetry
import Testing

@testable import RelayDaemon

@Suite struct LogLineTests {
    @Test(arguments: [
        ("plain", "plain"), ("", "\"\""), ("two words", "\"two words\""), ("a\"b\\c", #""a\"b\\c""#),
        ("x\nerror forged=1", #""x\u{a}error forged=1""#), ("\u{1B}[2J", #""\u{1b}[2J""#), ("\u{9B}2J", #""\u{9b}2J""#),
        ("a\u{2028}b\u{2029}c", #""a\u{2028}b\u{2029}c""#), ("\u{202E}txt", #""\u{202e}txt""#), ("北京", "\"北京\""),
    ])
    func `What came from outside begins no line and steers no terminal`(value: String, shown: String) {
        let fields = [(name: "field", value: value)]
        #expect(
            StandardErrorLog.line(.error, "a message", fields, isJournal: true, at: "") == "<3>a message field=\(shown)"
        )
        #expect(
            StandardErrorLog.line(.notice, "a message", fields, isJournal: false, at: "T")
                == "T notice  a message field=\(shown)")
    }

    @Test func `On request a line is an object, also in the journal`() {
        let fields = [(name: "reason", value: "a \"b\"\n北京"), (name: "devices", value: "3")]
        let json = #"{"time":"T","level":"notice","message":"a message","reason":"a \"b\"\n北京","devices":"3"}"#
        #expect(StandardErrorLog.line(.notice, "a message", fields, .json, isJournal: false, at: "T") == json)
        #expect(StandardErrorLog.line(.notice, "a message", fields, .json, isJournal: true, at: "T") == "<5>" + json)
    }
}
