// SPDX-License-Identifier: Apache-2.0

/// The body with which Google's APIs refuse a request (google.rpc.Status over HTTP, https://google.aip.dev/193; the older
/// `errors` beside it).
package struct GoogleErrorBody: Hashable, Sendable {
    /// "PERMISSION_DENIED".
    package var status: String?
    /// For people; in one line, 300 characters at most.
    package var message: String?
    /// Words that name the cause, from `details[].reason` ("SERVICE_DISABLED"), `details[].errorCode` and
    /// `errors[].reason` ("accessNotConfigured").
    package var reasons: Set<String>

    /// A part that cannot be read is absent.
    package init(_ body: [UInt8]) {
        let error = (try? JSONReader.read(body))?["error"]
        status = error?["status"]?.string.flatMap(Self.word)
        message = error?["message"]?.string.map { Self.line($0, limit: 300) }
        let details = (error?["details"]?.array ?? []).flatMap { [$0["reason"]?.string, $0["errorCode"]?.string] }
        let errors = (error?["errors"]?.array ?? []).map { $0["reason"]?.string }
        reasons = Set((details + errors).compactMap { $0.flatMap(Self.word) })
    }

    /// Foreign text in one line of at most `limit` characters.
    package static func line(_ text: String, limit: Int) -> String {
        let line = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : scalar
        }
        return String(String.UnicodeScalarView(line))
    }

    private static func word(_ text: String) -> String? {
        let isWord = (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0 == 0x5F || isAlphanumeric($0) }
        return isWord ? text : nil
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
