// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Testing

@testable import PushProviders

@Suite struct APNsErrorBodyTests {
    @Test(
        arguments: [
            (#"{"reason":"BadDeviceToken"}"#, "BadDeviceToken", nil),
            (#"{ "reason" : "Unregistered", "timestamp" : 1732112345678 }"#, "Unregistered", 1_732_112_345_678),
            (#"{"timestamp":1732112345678,"reason":"ExpiredToken"}"#, "ExpiredToken", 1_732_112_345_678),
            // Seconds, which Apple does not send, are recognised by their size.
            (#"{"reason":"Unregistered","timestamp":1732112345}"#, "Unregistered", 1_732_112_345_000),
            (
                "{\r\n\t\"reason\"\t:\r\n\"Unregistered\" ,\n\"timestamp\" :\t1732112345678\n}", "Unregistered",
                1_732_112_345_678
            ),
            // Older than APNs, or later than tomorrow.
            (#"{"reason":"Unregistered","timestamp":100000000000}"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":1199145599999}"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":1199145600000}"#, "Unregistered", 1_199_145_600_000),
            (#"{"reason":"Unregistered","timestamp":1800086400000}"#, "Unregistered", 1_800_086_400_000),
            (#"{"reason":"Unregistered","timestamp":1800086400001}"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":-5}"#, "Unregistered", nil),
            // Cut off: eleven digits of a moment in 2024 would read as seconds, of the year 2518.
            (#"{"reason":"Unregistered","timestamp":17321123456"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":1732112345678"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":17321123456789012}"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":null}"#, "Unregistered", nil),
            (#"{"reason":"Unregistered","timestamp":"soon"}"#, "Unregistered", nil),
            ("", nil, nil),
            ("<html>502 Bad Gateway</html>", nil, nil),
            (#"{"reason":}"#, nil, nil),
            (#"{"reason":"#, nil, nil),
            (#"{"reason""#, nil, nil),
            (#"{"reason":"Cut off"#, nil, nil),
            (#"{"reason":"With spaces in it"}"#, nil, nil),
            (#"{"reason":42}"#, nil, nil),
        ] as [(String, String?, Int64?)])
    func readsReasonAndTimestampAndSurvivesTheRest(body: String, reason: String?, timestamp: Int64?) {
        let read = APNsErrorBody(Array(body.utf8))
        #expect(read.reason == reason)
        #expect(read.timestamp(at: Timestamp(seconds: 1_800_000_000)) == timestamp.map { Timestamp(milliseconds: $0) })
    }

    @Test func aReasonWithoutEndIsBounded() {
        let body = #"{"reason":""# + String(repeating: "A", count: 4_000) + #""}"#
        #expect(APNsErrorBody(Array(body.utf8)).reason == nil)
    }
}
