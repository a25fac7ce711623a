// SPDX-License-Identifier: Apache-2.0
import Testing
import WireFormat

@testable import PushSimulator

/// The messages that FCM takes, and the words in which it refuses others (PROTOCOLS 2.2, 2.3).
@Suite struct FCMMessageTests {
    private func read(_ text: String) throws -> JSONValue { try JSONReader.read(Array(text.utf8)) }

    private func fault(_ text: String) throws -> FCMMessage.Fault? {
        let json = try read(text)
        do throws(FCMMessage.Fault) {
            _ = try FCMMessage(json)
            return nil
        } catch {
            return error
        }
    }

    @Test func theMessageOfACampaignIsTaken() throws {
        let message = try FCMMessage(FCMFixture.message())
        #expect(message.kind == .token)
        #expect(message.target == FCMFixture.token)
        #expect(!message.isDryRun)
    }

    @Test(arguments: [
        #"{"message":{"fid":"cLvQ1xFkQ0SfhKf3nq8s9T","data":{"a":"b"}}}"#,
        #"{"message":{"topic":"news"},"validate_only":true}"#,
        #"{"validateOnly":true,"message":{"condition":"'a' in topics"}}"#,
        #"{"message":{"token":"a:b","notification":{"title":"T","body":"B"},"android":{"collapseKey":"upgrade","priority":"HIGH","ttl":"0s","restricted_package_name":"com.example","notification":{"sticky":true,"notification_count":3}},"data":null,"fid":null}}"#,
        #"{"message":{"token":"a","android":{"ttl":"2419200s"}}}"#,
        #"{"message":{"token":"a","android":{"ttl":"3.5s"}}}"#,
        #"{"message":{"token":"a","fcm_options":{"analytics_label":"a-_.~%Z9"},"android":{"fcmOptions":{"analyticsLabel":"b"},"bandwidth_constrained_ok":true,"restrictedSatelliteOk":false}}}"#,
        #"{"message":{"token":"a","android":{"notification":{"title_loc_key":"T","title_loc_args":["1"],"body_loc_key":"B"}}}}"#,
        #"{"message":{"token":"a","apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"alert":"b"},"page":{"n":1}},"fcmOptions":{"analyticsLabel":"x"}}}}"#,
        #"{"message":{"token":"a","data":{"collapse_key":"x","from_whom":"y","gcmx":"z"}}}"#,
    ]) func whatIsRight(text: String) throws {
        #expect(try fault(text) == nil)
    }

    @Test(arguments: [
        (
            #"{"message":{"token":"a","data":{"n":12}}}"#, "message.data[0].value",
            "Invalid value at 'message.data[0].value' (TYPE_STRING), 12"
        ),
        (
            #"{"message":{"token":"a","data":{"a":"b","n":{"x":"y"}}}}"#, "message.data[1].value",
            "Invalid value at 'message.data[1].value' (TYPE_STRING)"
        ),
        (
            #"{"message":{"token":"a","data":{"n":["y"]}}}"#, "message.data[0].value",
            "Invalid value at 'message.data[0].value' (TYPE_STRING)"
        ),
        (
            #"{"message":{"token":"a","data":{"n":true}}}"#, "message.data[0].value",
            "Invalid value at 'message.data[0].value' (TYPE_STRING), true"
        ),
        (
            #"{"message":{"token":"a","apns":{"headers":{"apns-priority":5}}}}"#, "message.apns.headers[0].value",
            "Invalid value at 'message.apns.headers[0].value' (TYPE_STRING), 5"
        ),
        (
            #"{"message":{"token":"a","android":{"bandwidth_constrained_ok":1}}}"#,
            "message.android.bandwidth_constrained_ok",
            "Invalid value at 'message.android.bandwidth_constrained_ok' (TYPE_BOOL), 1"
        ),
        (
            #"{"message":{"token":"a","android":{"restricted_satellite_ok":"yes"}}}"#,
            "message.android.restricted_satellite_ok",
            #"Invalid value at 'message.android.restricted_satellite_ok' (TYPE_BOOL), "yes""#
        ),
        (
            #"{"message":{"token":"a","android":{"fcm_options":{"analytics_label":5}}}}"#,
            "message.android.fcm_options.analytics_label",
            "Invalid value at 'message.android.fcm_options.analytics_label' (TYPE_STRING), 5"
        ),
        (
            #"{"message":{"token":"a","android":{"notification":{"body_loc_args":[1]}}}}"#,
            "message.android.notification.body_loc_args[0]",
            "Invalid value at 'message.android.notification.body_loc_args[0]' (TYPE_STRING), 1"
        ),
        (
            #"{"message":{"token":"a","colour":"red"}}"#, "message",
            #"Invalid JSON payload received. Unknown name "colour" at 'message': Cannot find field."#
        ),
        (
            #"{"messages":{"token":"a"}}"#, "",
            #"Invalid JSON payload received. Unknown name "messages": Cannot find field."#
        ),
        (
            #"{"message":{"token":"a","android":{"ttl":3600}}}"#, "message.android.ttl",
            "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), Field 'ttl', Illegal duration format; duration must end with 's'"
        ),
        (
            #"{"message":{"token":"a","android":{"ttl":"1h"}}}"#, "message.android.ttl",
            "Invalid value at 'message.android.ttl' (type.googleapis.com/google.protobuf.Duration), Field 'ttl', Illegal duration format; duration must end with 's'"
        ),
        (
            #"{"message":{"token":"a","android":{"priority":"urgent"}}}"#, "message.android.priority",
            #"Invalid value at 'message.android.priority' (type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority), "urgent""#
        ),
        (
            #"{"message":{"token":"a","android":{"collapse_key":1}}}"#, "message.android.collapse_key",
            "Invalid value at 'message.android.collapse_key' (TYPE_STRING), 1"
        ),
        (
            #"{"message":{"token":"a","android":{"collapse_key":"a","collapseKey":"b"}}}"#, "message.android",
            #"Invalid JSON payload received. Unknown name "collapseKey" at 'message.android': Cannot find field."#
        ),
        (#"{"message":{"token":7}}"#, "message.token", "Invalid value at 'message.token' (TYPE_STRING), 7"),
        (
            #"{"message":"token"}"#, "message",
            #"Invalid value at 'message' (type.googleapis.com/google.firebase.fcm.v1.Message), "token""#
        ),
        (
            #"{"message":{"token":"a"},"validate_only":1}"#, "validate_only",
            "Invalid value at 'validate_only' (TYPE_BOOL), 1"
        ),
        (
            #"{"message":{"token":"a","fid":"b"}}"#, "message",
            "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set 'fid'"
        ),
    ]) func whatGooglesFrontRefuses(text: String, field: String, description: String) throws {
        #expect(try fault(text) == .unreadable(FieldFault(field, description)))
    }

    @Test(arguments: [
        ("{}", "message"), (#"{"message":{}}"#, "message"), (#"{"message":{"token":""}}"#, "message"),
        (#"{"message":{"token":"a","data":{"from":"x"}}}"#, "message.data"),
        (#"{"message":{"token":"a","data":{"gcm":"x"}}}"#, "message.data"),
        (#"{"message":{"token":"a","data":{"google.c.a":"x"}}}"#, "message.data"),
        (#"{"message":{"token":"a","data":{"googleish":"x"}}}"#, "message.data"),
        (#"{"message":{"token":"a","data":{"message_type":"x"}}}"#, "message.data"),
        (#"{"message":{"token":"a","android":{"data":{"from":"x"}}}}"#, "message.android.data"),
        (#"{"message":{"token":"a","android":{"ttl":"2419201s"}}}"#, "message.android.ttl"),
        (#"{"message":{"token":"a","android":{"ttl":"-1s"}}}"#, "message.android.ttl"),
        (
            #"{"message":{"token":"a","android":{"fcm_options":{"analytics_label":"a b"}}}}"#,
            "message.android.fcm_options.analytics_label"
        ),
        (
            #"{"message":{"token":"a","fcm_options":{"analytics_label":""}}}"#, "message.fcm_options.analytics_label"
        ),
        (
            #"{"message":{"token":"a","fcm_options":{"analytics_label":"\#(String(repeating: "a", count: 51))"}}}"#,
            "message.fcm_options.analytics_label"
        ),
    ]) func whatFCMRefuses(text: String, field: String) throws {
        guard case .refused(let violation) = try fault(text) else {
            Issue.record("\(text) is taken")
            return
        }
        #expect(violation.field == field)
    }

    /// "This includes both the keys and the values" (Google's page ErrorCode).
    @Test(arguments: [("token", 4096), ("topic", 2048)]) func theSizeOfData(target: String, most: Int) throws {
        func text(_ size: Int) -> String {
            #"{"message":{"\#(target)":"a","data":{"key":"\#(String(repeating: "v", count: size - 3))"}}}"#
        }
        #expect(try fault(text(most)) == nil)
        #expect(
            try fault(text(most + 1)) == .refused(FieldFault("message", "Message is too big")))
    }

    @Test func theSizeOfTheAppsOwnTexts() throws {
        func text(_ size: Int) -> String {
            let argument = String(repeating: "v", count: size - "body_loc_keyKbody_loc_args".count)
            return
                #"{"message":{"token":"a","android":{"notification":{"body_loc_key":"K","body_loc_args":["\#(argument)"]}}}}"#
        }
        #expect(try fault(text(4096)) == nil)
        #expect(try fault(text(4097)) == .refused(FieldFault("message", "Message is too big")))
    }

    @Test(arguments: ["a b", "a/b", "tökén", "a\u{7f}"]) func aTokenThatCanBeNone(token: String) throws {
        #expect(try fault(FCMFixture.text(FCMFixture.message(token: token))) == .badToken)
        #expect(try fault(#"{"message":{"fid":"\#(token)"}}"#) == .badToken)
    }

    @Test func durations() {
        #expect(MessageSchema.seconds("3600s") == 3600)
        #expect(MessageSchema.seconds("3.999999999s") == 3)
        #expect(MessageSchema.seconds("-1s") == -1)
        for text in ["3600", "s", "1m", "+1s", "1.s", "1.1234567890s", " 1s", "1e3s"] {
            #expect(MessageSchema.seconds(text) == nil, "\(text)")
        }
    }
}
