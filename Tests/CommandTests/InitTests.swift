// SPDX-License-Identifier: Apache-2.0
import CommandTranscript
import Foundation
import Synchronization
import Testing

@testable import Terminal
@testable import upgrade_relay

/// The questions of `init`, the files that it writes, and those that it leaves alone.
@Suite final class InitTests: Sendable {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "init-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.key.utf8).write(to: folder.appending(path: "AuthKey_FGHIJ67890.p8"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Made for this test: it belongs to no account.
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/1uI7MOLtJUAQckZ
        AbUhpfj9rYUv/vMLoaynEz0aDT+hRANCAARJdaOJ47IQAv7qELp7EcjUE34kD23b
        nV6LQjo1MA0rM02LlfKAqEoEe6bHRwBkekSKiDShFNJAeO9BrwNLHOj8
        -----END PRIVATE KEY-----

        """

    private var keyFile: String { folder.appending(path: "AuthKey_FGHIJ67890.p8").path }
    private var target: String { folder.appending(path: "relay").path }

    /// - Parameter other: options with another value, or beside the usual ones.
    private func words(_ other: [String: String] = [:], flags: [String] = []) -> [String] {
        var options = [
            "app": "com.example.app", "key": keyFile, "team-id": "ABCDE12345",
            "download-url": "https://apps.apple.com/app/id1173193999", "directory": target,
        ]
        options.merge(other) { $1 }
        return ["init"] + options.sorted { $0.key < $1.key }.flatMap { ["--\($0)", $1] } + flags
    }

    private func mode(_ path: String) throws -> Int {
        try #require(
            FileManager.default.attributesOfItem(atPath: "\(target)/\(path)")[.posixPermissions] as? Int)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(target)/\(path)", encoding: .utf8)
    }

    @Test func `From options alone: files, rights, the check and the next commands`() async throws {
        let transcript = Transcript()
        #expect(await transcript.run(words(), of: .all) == .done, "\(transcript.err)")
        #expect(try mode("config.json5") == 0o644 && mode("secrets") == 0o700)
        #expect(try mode("secrets/apns-key") == 0o600 && mode("secrets/webhook-secret") == 0o600)
        #expect(try text("secrets/apns-key") == Self.key)
        #expect(try text("secrets/webhook-secret").hasPrefix("whsec_"))
        #expect(try text("config.json5").contains(#"keyId: "FGHIJ67890""#), "out of the file's name")
        #expect(transcript.out.hasPrefix("configuration is valid\n"))
        let next = transcript.out.components(separatedBy: "Next:\n").last ?? ""
        #expect(next.contains("  export UPGRADE_RELAY_CONFIG=\(target)/config.json5\n  upgrade-relay serve &\n"))
        #expect(next.contains("upgrade-relay devices import devices.csv"))
        #expect(next.contains("upgrade-relay version set com.example.app ios --required"))
        #expect(!(transcript.out + transcript.err).contains("whsec_"))
        // It can be checked again by itself.
        #expect(await Transcript().run(["check-config", "\(target)/config.json5"], of: .all) == .done)
    }

    @Test func `A person is asked for what the options leave out, and an empty line is what is usual`() async throws {
        let lines = Mutex(["com.example.app", "", keyFile, "", "ABCDE12345", "", "https://example.com/get", ""])
        let transcript = Transcript(isTerminal: true) { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        let code = await transcript.run(["init", "--directory", target], of: .all)
        #expect(code == .done, "\(transcript.err)")
        let left = lines.withLock { $0 }
        #expect(left == [])
        #expect(transcript.err.contains("The key's id, ten characters [FGHIJ67890]: "))
        // An empty line for a question without a usual answer is asked again.
        #expect(transcript.err.components(separatedBy: "Where users get the new version").count == 3)
        #expect(try text("config.json5").contains(#"downloadUrl: "https://example.com/get""#))
    }

    @Test func `Where nobody can be asked, what is missing is named`() async {
        let transcript = Transcript()
        #expect(await transcript.run(["init", "--directory", target], of: .all) == .usage)
        #expect(transcript.err.contains("--app is needed"))
    }

    @Test func `A file that is missing is named before what depends on it, and asked for again at a terminal`()
        async throws
    {
        let missing = folder.appending(path: "missing.p8").path
        let transcript = Transcript()
        #expect(await transcript.run(words(["key": missing]), of: .all) == .usage)
        #expect(transcript.err.contains("--key: there is no file \(missing)") && !transcript.err.contains("--key-id"))
        let lines = Mutex(["com.example.app", "iOS", missing, keyFile, "", "ABCDE12345", "https://example.com/get", ""])
        let asked = Transcript(isTerminal: true) { lines.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        #expect(await asked.run(["init", "--directory", target], of: .all) == .done, "\(asked.err)")
        #expect(asked.err.contains("there is no file \(missing)"))
    }

    @Test func `No secret is written into a folder that others may write to`() async throws {
        for (place, mode) in [("relay", 0o777), ("relay/secrets", 0o720)] {
            let path = folder.appending(path: place).path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            let transcript = Transcript()
            #expect(await transcript.run(words(), of: .all) == .failed)
            #expect(transcript.err.contains("\(path) may be written to by others"), "\(transcript.err)")
            #expect(!FileManager.default.fileExists(atPath: "\(target)/secrets/webhook-secret"))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        #expect(await Transcript().run(words(), of: .all) == .done)
    }

    @Test func `A key that is none, or an id that is none, is named, and nothing is written`() async throws {
        try Data("no key".utf8).write(to: folder.appending(path: "other.p8"))
        let other = folder.appending(path: "other.p8").path
        let wrong = [
            (["key": other, "key-id": "FGHIJ67890"], "apns.key: "), (["team-id": "ABC"], "apns.teamId: "),
            (["download-url": "http://example.com"], "downloadUrl: "),
            (["key": "\(other).missing", "key-id": "FGHIJ67890"], "does not exist"),
        ]
        for (more, said) in wrong {
            let transcript = Transcript()
            let code = await transcript.run(words(more), of: .all)
            #expect(code == .configuration, "\(more): \(code) \(transcript.err)")
            #expect(transcript.err.contains(said), "\(transcript.err)")
            #expect(!FileManager.default.fileExists(atPath: target))
        }
    }

    @Test func `Somebody's files stay, or are kept beside the new ones`() async throws {
        #expect(await Transcript().run(words(), of: .all) == .done)
        let (before, secret) = (try text("config.json5"), try text("secrets/webhook-secret"))
        let refused = Transcript()
        #expect(await refused.run(words(["versions": "store"]), of: .all) == .failed)
        #expect(refused.err.contains("config.json5 is there already, and nothing was written"))
        #expect(try text("config.json5") == before)
        #expect(await Transcript().run(words(["versions": "store"], flags: ["--force"]), of: .all) == .done)
        #expect(try text("config.json5").contains("appStore: { bundleId:"))
        #expect(try text("config.json5.old") == before)
        #expect(try text("secrets/webhook-secret") == secret, "who signs with it goes on")
        #expect(!FileManager.default.fileExists(atPath: "\(target)/secrets/apns-key.old"), "it is the same key")
        // A second time nothing that was kept is overwritten.
        let second = try text("config.json5")
        #expect(
            await Transcript().run(words(["download-url": "https://example.com/2"], flags: ["--force"]), of: .all)
                == .done)
        #expect(try text("config.json5.old") == before && text("config.json5.old.2") == second)
    }

    @Test func `iPhones are reached by APNs or by FCM, and one of them is named`() async {
        let transcript = Transcript()
        let words = words(["service-account": "/x.json"])
        #expect(await transcript.run(words, of: .all) == .usage)
        #expect(transcript.err.contains("FCM pushes with the service account: one of --key and --service-account"))
    }

    @Test func `Options of the other platform are refused`() async {
        let transcript = Transcript()
        let words = words(["platform": "android"])
        #expect(await transcript.run(words, of: .all) == .usage)
        #expect(transcript.err.contains("--key does not go with --platform android"))
        let store = Transcript()
        let android = [
            "init", "--app", "a", "--platform", "android", "--service-account", "/x.json", "--download-url",
            "https://example.com", "--versions", "store",
        ]
        #expect(await store.run(android, of: .all) == .usage)
        #expect(store.err.contains("Google Play is asked with a key of its own"))
    }
}
