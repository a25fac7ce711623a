// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The part between "//" and the path of a download URL: a host and a port.
enum URLHost {
    /// Its fault; nil: none.
    ///
    /// - Parameter isNamed: whether the host is looked up, as for https; with a custom scheme it is a word that only
    ///   the app interprets.
    static func fault(in authority: String, isNamed: Bool) -> String? {
        let scalars = authority.unicodeScalars
        if let bad = scalars.first(where: { $0.isASCII && !isOfAuthority($0) }) {
            return "its host holds \(String(bad).debugDescription), which no host has"
        }
        guard scalars.allSatisfy(\.isASCII) else { return notASCII(authority) }
        var rest = authority[...]
        if let at = rest.lastIndex(of: "@") { rest = rest[at...].dropFirst() }
        let host: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]"), isIPv6(rest[..<end].dropFirst()) else {
                return "its host is no IPv6 address in brackets"
            }
            host = rest[...end]
        } else {
            host = rest.prefix { $0 != ":" }
            if host.contains(where: { "[]".contains($0) }) { return "its host holds a bracket, which no host has" }
        }
        let port = rest[host.endIndex...]
        if !port.isEmpty {
            guard port.first == ":", let number = Int(port.dropFirst()), (1...65_535).contains(number),
                port.dropFirst().utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return "its port is a number from 1 to 65535; leave it out for the usual one" }
        }
        guard isNamed, host.first != "[" else { return nil }
        // RFC 1035 section 2.3.4: labels of 63 octets, names of 255 with their lengths.
        let name = host.last == "." ? host.dropLast() : host
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard !host.contains("%"), name.utf8.count <= 253, labels.allSatisfy({ (1...63).contains($0.utf8.count) })
        else {
            return "its host is no name of the DNS, such as apps.apple.com"
        }
        return nil
    }

    /// RFC 3986 section 3.2: unreserved, sub-delimiters, ":" and "@", brackets about an address.
    private static func isOfAuthority(_ scalar: Unicode.Scalar) -> Bool {
        DownloadURL.isLetter(scalar) || ("0"..."9").contains(scalar)
            || "-._~!$&'()*+,;=:@[]%".unicodeScalars.contains(scalar)
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        text.utf8.contains(UInt8(ascii: ":"))
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ":")
                    || byte == UInt8(ascii: ".") || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
            }
    }

    /// RFC 5891: in the DNS a name in another script is written as Punycode. Browsers map such names in ways of their
    /// own, so the relay only suggests the Punycode.
    private static func notASCII(_ authority: String) -> String {
        let host = authority.prefix { $0 != ":" }
        let labels = host.lowercased().replacing("。", with: ".").split(
            separator: ".", omittingEmptySubsequences: false)
        let name = labels.map { Punycode.label($0) }.joined(separator: ".")
        return "its host must be in ASCII; send \"\(name)\" in the place of \(JSONValue.string(String(host)).sight)"
    }
}
