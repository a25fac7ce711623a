// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The place of a secret. The secret is never in the configuration itself.
package enum SecretSource: Sendable, Hashable {
    /// A file's path.
    case file(String)
    /// The name of a systemd credential: a file in `$CREDENTIALS_DIRECTORY` (systemd.exec(5), `LoadCredential=`).
    case credential(String)
    /// The name of an environment variable.
    case environment(String)

    /// For messages and logs; holds no secret.
    package var place: String {
        switch self {
        case .file(let path): "file \(path)"
        case .credential(let name): "credential \(name)"
        case .environment(let name): "environment variable \(name)"
        }
    }

    /// The holder's name in the log and the history: the credential's, the file's or the variable's name.
    package var name: String {
        switch self {
        case .file(let path): path.split(separator: "/").last.map(String.init) ?? path
        case .credential(let name), .environment(let name): name
        }
    }

    /// Whether a reload gets the old secret: systemd passes credentials, and the environment, only when a service starts
    /// (systemd.exec(5)).
    package var needsRestart: Bool {
        if case .file = self { false } else { true }
    }

    /// The way in which the secret is exposed to other users; nil: none was found. systemd protects its credentials from all other users
    /// (systemd.exec(5)).
    var exposure: String? {
        guard case .file(let path) = self, let mode = FileProbe.modeForAll(path) else { return nil }
        return "\(place) is readable for everybody (mode 0\(String(mode, radix: 8))); chmod 640 or less"
    }

    /// The secret without the byte-order mark and the line end that editors put into a file (`SecretText`).
    ///
    /// - Throws: the failure with the place, never with any part of the secret.
    package func read(environment: [String: String]) throws(FileProbe.Failure) -> [UInt8] {
        let bytes = try bytes(environment: environment)
        do throws(TextFile.Fault) {
            let secret = try SecretText.read(bytes)
            if !secret.isEmpty { return secret }
        } catch {
            throw FileProbe.Failure(problem: "\(place) \(error)")
        }
        throw FileProbe.Failure(problem: "\(place) is empty")
    }

    /// The secret as `read(environment:)` returns it, or all of its bytes unchanged where `isText` is false.
    ///
    /// - Throws: the fault with the configuration's field that names the place.
    func read(
        at field: String, environment: [String: String], isText: Bool = true
    ) throws(FieldFault) -> [UInt8] {
        do throws(FileProbe.Failure) {
            return try isText ? read(environment: environment) : bytes(environment: environment)
        } catch {
            throw FieldFault(field, "\(error)")
        }
    }

    /// All bytes of the secret unchanged, for a secret that is not text.
    package func bytes(environment: [String: String]) throws(FileProbe.Failure) -> [UInt8] {
        let bytes: [UInt8]
        switch self {
        case .file(let path):
            bytes = try contents(of: path)
        case .credential(let name):
            guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
                throw FileProbe.Failure(
                    problem: "\(place) cannot be read: $CREDENTIALS_DIRECTORY is not set",
                    hint: "systemd sets it for the service; outside of it, use {file: \"…\"} or set it to a directory")
            }
            do {
                bytes = try contents(of: "\(directory)/\(name)")
            } catch {
                throw FileProbe.Failure(
                    problem: error.problem,
                    hint: error.hint ?? "is LoadCredential=\(name):/path in the service's unit?")
            }
        case .environment(let name):
            guard let value = environment[name] else { throw FileProbe.Failure(problem: "\(place) is not set") }
            // Foundation replaces bytes that are not UTF-8 by U+FFFD, which would give another secret.
            guard !value.unicodeScalars.contains("\u{FFFD}") else {
                throw FileProbe.Failure(
                    problem: "\(place) is not text", hint: "a file may hold any bytes: { file: \"…\" }")
            }
            bytes = Array(value.utf8)
        }
        guard !bytes.isEmpty else { throw FileProbe.Failure(problem: "\(place) is empty") }
        return bytes
    }

    private func contents(of path: String) throws(FileProbe.Failure) -> [UInt8] {
        do throws(FileProbe.Failure) {
            return try FileProbe.read(path, limit: 1 << 20)
        } catch {
            throw FileProbe.Failure(problem: "\(place) \(error.problem)", hint: error.hint)
        }
    }
}
