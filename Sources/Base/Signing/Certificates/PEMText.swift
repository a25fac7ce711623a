// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// Repairs a PEM text (RFC 7468) that was changed on its way here. Editors write a byte-order mark or UTF-16. Environment variables
/// and their files have the two characters \n or blanks instead of a line's end, quotes around the text, or a name before
/// it. YAML indents it. OpenSSL finds a block only where its mark begins a line. Pure.
package enum PEMText {
    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
    /// "wrapped … so that each line consists of exactly 64 characters" (RFC 7468, 2).
    private static let width = 64

    /// The blocks of the text in the form that OpenSSL reads, with nothing between them. A text without a block is only
    /// converted to UTF-8.
    package static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        let text = (try? TextFile.utf8(bytes)) ?? bytes
        var blocks: [UInt8] = []
        var rest = text[...]
        while let mark = rest.firstRange(of: begin) {
            let afterMark = rest[mark.upperBound...]
            // A label is printable and in one line.
            guard let close = afterMark.firstRange(of: dashes),
                afterMark[..<close.lowerBound].allSatisfy({ (0x20..<0x7F).contains($0) })
            else {
                rest = afterMark
                continue
            }
            let body = afterMark[close.upperBound...]
            blocks += rest[mark.lowerBound..<close.upperBound] + [0x0A]
            guard let last = body.firstRange(of: end), let closeEnd = body[last.upperBound...].firstRange(of: dashes)
            else {
                // A block without an end takes all that follows.
                return blocks + lines(body)
            }
            blocks += lines(body[..<last.lowerBound]) + body[last.lowerBound..<closeEnd.upperBound] + [0x0A]
            rest = body[closeEnd.upperBound...]
        }
        return blocks.isEmpty ? text : blocks
    }

    /// The lines between a block's marks, each with its end.
    private static func lines(_ body: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        var place = body.startIndex
        while place < body.endIndex {
            let next = place + 1 < body.endIndex ? body[place + 1] : 0
            let byte = body[place]
            place += 1
            switch (byte, next) {
            case (0x5C, UInt8(ascii: "n")): (text, place) = (text + [0x0A], place + 1)
            case (0x5C, UInt8(ascii: "r")): place += 1
            case (0x0D, 0x0A): break
            case (0x0D, _): text.append(0x0A)
            default: text.append(byte)
            }
        }
        var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.drop { isBlank($0) }
        }
        if lines.first?.isEmpty ?? false { lines.removeFirst() }
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        // The headers of a key with a password in the old form end with an empty line (RFC 1421, 4.4).
        if lines.contains(where: { $0.contains(UInt8(ascii: ":")) }) {
            return lines.flatMap { Array($0) + [0x0A] }
        }
        let digits = lines.joined().filter { !isBlank($0) }
        return stride(from: 0, to: digits.count, by: width).flatMap { start in
            Array(digits[start..<min(start + width, digits.count)]) + [0x0A]
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// The fault in a file of certificates to trust, which libcurl's TLS reads directly; nil: none.
    ///
    /// - Returns: a reason that completes "the file X …", and whether TLS would still find some of the certificates.
    package static func authoritiesFault(_ bytes: [UInt8]) -> (reason: String, someAreFound: Bool)? {
        let mark = "-----BEGIN CERTIFICATE-----"
        let count = PEMBlock.all(in: bytes).count { $0.isCertificate }
        guard count > 0 else { return ("holds no certificate in PEM; it has to have \(mark)", false) }
        // OpenSSL silently skips a block whose mark does not begin a line.
        let labels = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]
        let lines = bytes.split(separator: 0x0A)
        let found =
            lines.count < 3
            ? 0
            : lines.count { line in
                labels.contains { line.starts(with: "-----BEGIN \($0)-----".utf8) && !line.contains(0x5C) }
            }
        guard found < count else { return nil }
        return (
            "holds \(count) certificates, of which TLS finds \(found): it is read as it stands, so it has to be plain text without a "
                + "byte-order mark, with \(mark) at the beginning of a line", found > 0
        )
    }
}
