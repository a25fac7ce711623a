// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// Secrets: the configuration names their place and never has them.
extension ConfigurationReader {
    /// nil where it is absent, and after a fault.
    func optionalSecret(_ key: String) -> SecretSource? {
        raw(key).flatMap { secret($0, at: path(of: key)) }
    }

    /// `{ file: "…" }`, `{ credential: "…" }` or `{ environment: "…" }`, exactly one of them.
    ///
    /// - Parameter more: reads further members of the same object.
    func secret(
        _ value: JSONValue, at path: String, more: (ConfigurationReader) -> Void = { _ in }
    ) -> SecretSource? {
        note(at: path, .secret)
        let right = "{ file: \"…\" }, { credential: \"…\" } or { environment: \"…\" }"
        // Without the value in the message: it may well be the secret.
        guard let members = value.object else {
            fault(at: path, "a secret is never written here; say where it is kept: \(right)")
            return nil
        }
        let reader = ConfigurationReader(members, path: path, faults: faults)
        let file = reader.string("file", check: absolutePath)
        let credential = reader.string("credential") { name in
            name.isEmpty || name.contains("/") || name.hasPrefix(".") ? "is not a credential's name" : nil
        }
        let environment = reader.string("environment") { name in
            name.isEmpty || name.contains("=") ? "is not a variable's name" : nil
        }
        more(reader)
        reader.finish()
        let given = ["file", "credential", "environment"].filter { reader.raw($0) != nil }
        guard given.count == 1 else {
            fault(at: path, "\(given.isEmpty ? "names no place" : "names several places") for the secret; \(right)")
            return nil
        }
        return file.map(SecretSource.file) ?? credential.map(SecretSource.credential)
            ?? environment.map(SecretSource.environment)
    }
}
