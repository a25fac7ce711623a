// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ClientCommands

@Suite struct CredentialCopiesTests {
    @Test func `Only a source that has other bytes now is named`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let copies = folder.appending(path: "copies")
        let sources = folder.appending(path: "sources")
        for directory in [copies, sources] {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            for name in ["apns-key", "webhook-secret"] { try Data("a".utf8).write(to: directory.appending(path: name)) }
        }
        try Data("gone".utf8).write(to: copies.appending(path: "tls-key"))
        let look = CredentialCopies(copies: copies.path, sources: sources.path)
        #expect(look.changed().isEmpty)
        try Data("b".utf8).write(to: sources.appending(path: "apns-key"))
        #expect(look.changed() == ["apns-key"])
        #expect(CredentialCopies(copies: "/nowhere", sources: sources.path).changed().isEmpty)
    }
}
