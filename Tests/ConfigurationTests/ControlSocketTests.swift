// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestPeers
import Testing

@testable import Configuration

/// FAULTS 3.4: an operator who has to stop something finds the daemon, however broken the configuration is.
@Suite struct ControlSocketTests {
    @Test(arguments: [
        (#"{ listen: { controlSocket: "/run/a.sock" "#, "/run/a.sock"),
        (#"{ listen: { 'controlSocket' : '/run/a.sock' }, apps: { ]"#, "/run/a.sock"),
        ("{ listen: {\n // controlSocket: '/run/no.sock',\n controlSocket: /* here */ '/run/a.sock'", "/run/a.sock"),
        ("{ store: { sqlite: { path: \"/var/a } },\n listen: { controlSocket: \"/run/a.sock\" } }", "/run/a.sock"),
        (#"{ notify: [{ url: "https://x.y" }], controlSocket: "/a", controlSocket: "/b" "#, "/b"),
        ("{ /* controlSocket: \"/run/no.sock\" */ }", nil), ("{ note: \"controlSocket: '/run/no.sock'\" ", nil),
        ("{ controlSocket: 7", nil), ("{ controlSocket: \"relative\"", nil), ("", nil), ("controlSocket", nil),
        ("controlSocket:\"/run/a", "/run/a"), ("/", nil), ("/*", nil), ("/*/ controlSocket: '/a'", nil),
    ])
    func `The socket is found in a text that is broken`(text: String, path: String?) {
        #expect(ControlSocketText.path(in: Array(text.utf8)) == path)
    }

    private func socket(_ text: String?, isNamed: Bool = true) throws -> (ControlSocket, path: String) {
        let path = "\(try TestFolder.make())/config.json5"
        if let text { try Data(text.utf8).write(to: URL(filePath: path)) }
        return (ConfigurationFile(path: path).controlSocket(isNamed: isNamed), path)
    }

    @Test func `A file that is right says nothing`() throws {
        let text = #"{ listen: { controlSocket: "/run/a.sock" }, apps: {} }"#
        let (socket, _) = try socket(text)
        #expect(socket.path == "/run/a.sock")
    }

    @Test func `A file that cannot be read as JSON5 names its socket all the same`() throws {
        let (socket, path) = try socket("{ listen: { controlSocket: \"/run/a.sock\" },\n apps: { ] }")
        #expect(socket.path == "/run/a.sock")
        let remark = try #require(socket.remark)
        #expect(remark.hasPrefix("the configuration \(path) cannot be used (not JSON5: line 2"), "\(remark)")
        #expect(remark.hasSuffix("; using the control socket that it names, /run/a.sock"), "\(remark)")
    }

    @Test func `A file with wrong values names its socket, the first fault and how many there are`() throws {
        let (socket, _) = try socket("{ listen: { controlSocket: \"/run/a.sock\" }, wrong: 1, alsoWrong: 2 }")
        #expect(socket.path == "/run/a.sock")
        let remark = try #require(socket.remark)
        #expect(remark.contains(", and ") && remark.contains(" more); using the control socket"), "\(remark)")
        #expect(!remark.contains("\n"))
    }

    @Test func `Where no socket is named the default is used`() throws {
        let (socket, _) = try socket("{ apps: ")
        #expect(socket.path == "/run/upgrade-relay/control.sock")
        #expect(socket.remark?.hasSuffix("; using the default control socket, /run/upgrade-relay/control.sock") == true)
    }

    @Test func `A file that is not there is worth a remark where somebody named it`() throws {
        #expect(try socket(nil, isNamed: false).0.remark == nil)
        let (socket, _) = try socket(nil)
        #expect(socket.path == "/run/upgrade-relay/control.sock")
        #expect(socket.remark?.contains("cannot be used (the file does not exist); using the default") == true)
    }
}
