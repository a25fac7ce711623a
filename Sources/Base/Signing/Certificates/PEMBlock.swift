// SPDX-License-Identifier: Apache-2.0

/// One block of a PEM text (RFC 7468), found by hand: OpenSSL's readers do not distinguish "nothing of this kind here" from
/// "damaged", and people put certificate and key into one file, with words between. Pure.
struct PEMBlock {
    /// "CERTIFICATE", "ENCRYPTED PRIVATE KEY".
    var label: String
    /// The block as it stands, from its BEGIN to its END.
    var text: [UInt8]

    var isCertificate: Bool { label == "CERTIFICATE" || label == "X509 CERTIFICATE" }
    var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }

    /// - Returns: the blocks in their order; a block without an end takes all that follows.
    static func all(in file: [UInt8]) -> [PEMBlock] {
        let bytes = PEMText.repaired(file)
        var blocks: [PEMBlock] = []
        var open: PEMBlock?
        // Empty lines stay: one ends the headers of a key with a password in the old form (RFC 1421, 4.4).
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if open == nil, let label = label(of: line, "-----BEGIN ") { open = PEMBlock(label: label, text: []) }
            guard var block = open else { continue }
            block.text += line + [0x0A]
            open = block
            if label(of: line, "-----END ") != nil {
                blocks.append(block)
                open = nil
            }
        }
        return open.map { blocks + [$0] } ?? blocks
    }

    private static func label(of line: ArraySlice<UInt8>, _ mark: String) -> String? {
        let line = String(decoding: line, as: UTF8.self)
        // Blanks may follow a mark.
        guard let start = line.firstRange(of: mark), start.lowerBound == line.startIndex,
            let end = line[start.upperBound...].firstRange(of: "-----")
        else { return nil }
        return String(line[start.upperBound..<end.lowerBound])
    }
}
