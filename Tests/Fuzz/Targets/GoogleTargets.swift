// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Signing
import WireFormat

@testable import VersionSources

extension FuzzTarget {
    /// Google's answers: a list of releases, an edit, its track, refusals, a token; and the file of a key.
    static let google = FuzzTarget("google") { bytes in
        if let summaries = try google({ () throws(SourceFault) in
            try GooglePlayAnswer.releases(bytes, track: "production")
        }) {
            for summary in summaries {
                try hold(!summary.builds.isEmpty && summary.builds.allSatisfy { $0 > 0 }, "a release without a code")
                try hold(
                    (1...64).contains(summary.lifecycle.utf8.count), "a state of \(summary.lifecycle.utf8.count) bytes")
            }
        }
        if let rollouts = try google({ () throws(SourceFault) in try GooglePlayAnswer.track(bytes, track: "production")
        }) {
            for rollout in rollouts {
                try hold(!rollout.builds.isEmpty && (0...1).contains(rollout.fraction), "\(rollout.fraction) of users")
                try hold(rollout.status != .completed || rollout.fraction == 1, "completed, and not for all")
            }
            // The machine makes evidence of everything that could be read.
            var machine = GooglePlayMachine(source: GooglePlaySource(packageName: "a.b"), start: Timestamp(seconds: 0))
            let summaries = rollouts.map { GooglePlaySummary(name: $0.name, builds: $0.builds, lifecycle: "PUBLISHED") }
            if machine.listed(.success(summaries), wanted: [], at: Timestamp(seconds: 0)) == nil,
                case .failure(let fault) = machine.read(.success(rollouts), leftover: nil, at: Timestamp(seconds: 0))
            {
                throw Violation(description: "refused: \(fault)")
            }
        }
        if let edit = try google({ () throws(SourceFault) in try GooglePlayAnswer.edit(bytes) }) {
            let address = GooglePlaySource(packageName: "a.b").trackAddress(edit)
            try hold(address.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "no address: \(address)")
            try hold(
                address.split(separator: "/", omittingEmptySubsequences: false).count == 11, "another path: \(address)")
        }
        let error = GoogleErrorBody(bytes)
        try holdLine(error.message)
        for status in [200, 400, 503] {
            switch GoogleTokenAnswer(status: status, body: bytes, scope: GoogleAccount.Scope.firebaseMessaging) {
            case .granted(let token, let lifetime):
                try hold(status == 200 && !token.isEmpty && lifetime >= .zero, "a token of HTTP \(status)")
                try hold(token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a token that breaks its header")
            case .refused(let reason), .unavailable(let reason): try holdLine(reason)
            }
        }
        do throws(SigningError) {
            let account = try GoogleAccount(keyFile: bytes)
            _ = account.description
        } catch {
            try hold(error.description.utf8.count <= 1000, "the fault is long: \(error.description.utf8.count)")
        }
    }

    private static func google<Value>(_ read: () throws(SourceFault) -> Value) throws -> Value? {
        do throws(SourceFault) {
            return try read()
        } catch {
            try hold(error.description.utf8.count <= 2000, "the fault is long: \(error.description.utf8.count)")
            return nil
        }
    }

    private static func holdLine(_ text: String?) throws {
        guard let text else { return }
        try hold(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "it breaks its line")
        try hold(text.unicodeScalars.count <= 1000, "it is long")
    }
}
