// SPDX-License-Identifier: Apache-2.0
import Testing
import UpgradeRules

/// The rules in `UpgradeRules` against the replicas, and the replicas against SEEDS S5.
@Suite("LaunchGate and Gandalf")
struct LaunchGateClientTests {
    typealias Document = LaunchGateDocument

    @Test(
        "the replica drops a file with a missing or mistyped field, and an object with an empty one",
        arguments: [
            (#"{"ios":{"requiredUpdate":{"minimumVersion":"2","message":"m"}}}"#, .requiredUpdate("m")),
            (#"{"ios":{"requiredUpdate":{"minimumVersion":2,"message":"m"}}}"#, nil),
            (#"{"ios":{"requiredUpdate":{"minimumVersion":"2"}}}"#, nil),
            (#"{"ios":{"requiredUpdate":{"minimumVersion":"2","message":"m"},"alert":{"message":"a"}}}"#, nil),
            (
                #"{"ios":{"requiredUpdate":{"minimumVersion":"","message":"m"},"alert":{"message":"a","blocking":true}}}"#,
                .alert("a", blocking: true)
            ),
            (#"{"android":{"requiredUpdate":{"minimumVersion":"2","message":"m"}}}"#, nil),
            (#"{"ios":{"requiredUpdate":{"minimumVersion":"2","message":"m"}}"#, nil),
        ] as [(String, LaunchGateReplica.Dialog?)])
    func parses(file: String, dialog: LaunchGateReplica.Dialog?) {
        var client = LaunchGateReplica(appVersion: "1")
        #expect(client.launch(Array(file.utf8)) == dialog)
    }

    @Test("the replica stops at requiredUpdate when it is current; Gandalf goes on, and shows an alert first")
    func order() {
        let file = Array(
            (#"{"ios":{"requiredUpdate":{"minimumVersion":"1","message":"r"},"alert":{"message":"a","blocking":true}},"#
                + #""android":{"requiredUpdate":{"minimumVersion":"1","message":"r"},"#
                + #""optionalUpdate":{"optionalVersion":"9","message":"o"},"alert":{"message":"a","blocking":false}}}"#)
                .utf8)
        var launchGate = LaunchGateReplica(appVersion: "1")
        #expect(launchGate.launch(file) == nil)
        var gandalf = GandalfReplica(versionCode: 1)
        #expect(gandalf.launch(file) == .alert("a", blocking: false))
        #expect(gandalf.launch(file) == .optionalUpdate("o"))
        #expect(gandalf.launch(file) == nil)
    }

    @Test(
        "versions are compared lexically, with the traps that this has",
        arguments: [
            ("1.10", "1.9", true), ("10.0", "9.0", true), ("2.0", "2.0.0", true), ("2.0.0", "2.0", false),
            ("1.9", "1.10", false), ("1.8", "1.9", true), ("1.9", "1.9", false),
        ])
    func lexical(installed: String, minimum: String, isBelow: Bool) {
        #expect(LaunchGateClient.launchGate.isBelow(installed, minimum) == isBelow)
    }

    @Test(
        "version codes are integers or nothing",
        arguments: [
            ("8", "9", true), ("10", "9", false), ("9", "7.0.3", nil), ("9", "2147483648", nil), ("9", "", nil),
        ])
    func codes(installed: String, minimum: String, isBelow: Bool?) {
        #expect(LaunchGateClient.gandalf.isBelow(installed, minimum) == isBelow)
    }

    /// Every combination of sections, versions around the borders, and both clients.
    @Test("the rules and the replicas agree on every document")
    func agree() {
        let texts = ["", "1", "2", "10", "9"]
        var documents = 0
        for minimum in [nil] + texts.map(Optional.some) {
            for optional in [nil] + texts.map(Optional.some) {
                for alert in [nil, ("", false), ("a", false), ("a", true)] as [(String, Bool)?] {
                    let section = Document.Section(
                        required: minimum.map { .init(minimumVersion: $0, message: "r\"\n") },
                        optional: optional.map { .init(optionalVersion: $0, message: "o") },
                        alert: alert.map { .init(message: $0.0, blocking: $0.1) })
                    let file = Document(ios: section, android: section).rendered()
                    for code in [1, 2, 9, 10, 11] as [Int32] {
                        var launchGate = LaunchGateReplica(appVersion: String(code))
                        var gandalf = GandalfReplica(versionCode: code)
                        #expect(
                            LaunchGateClient.launchGate.prompt(section, installed: String(code)).dialog
                                == launchGate.launch(file))
                        #expect(
                            LaunchGateClient.gandalf.prompt(section, installed: String(code)).dialog
                                == gandalf.launch(file))
                        documents += 1
                    }
                }
            }
        }
        #expect(documents == 720)
    }

    @Test("a document is rendered as the clients document it")
    func rendering() {
        let document = Document(
            ios: .init(
                required: .init(minimumVersion: "1.1", message: "häufig \"neu\""),
                optional: .init(optionalVersion: "1.2", message: "b"), alert: .init(message: "c", blocking: true)),
            android: .init())
        #expect(
            String(decoding: document.rendered(), as: UTF8.self)
                == #"{"ios":{"requiredUpdate":{"minimumVersion":"1.1","message":"häufig \"neu\""},"#
                + #""optionalUpdate":{"optionalVersion":"1.2","message":"b"},"#
                + #""alert":{"message":"c","blocking":true}},"android":{}}"#)
    }
}

extension LaunchGateClient.Prompt {
    fileprivate var dialog: LaunchGateReplica.Dialog? {
        switch self {
        case .none: nil
        case .required(let message): .requiredUpdate(message)
        case .optional(let message): .optionalUpdate(message)
        case .alert(let message, let blocking): .alert(message, blocking: blocking)
        }
    }
}
