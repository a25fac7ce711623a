// SPDX-License-Identifier: Apache-2.0

/// How a name in any script is written in the DNS (RFC 3492; RFC 5890 section 2.3.2.1: "xn--" and the output of Punycode).
package enum Punycode {
    private static let base = 36
    private static let firstThreshold = 1
    private static let lastThreshold = 26

    /// One label of a host's name; unchanged where it is ASCII.
    package static func label(_ text: some StringProtocol) -> String {
        let scalars = Array(String(text).unicodeScalars)
        if scalars.allSatisfy(\.isASCII) { return String(text) }
        let basic = scalars.filter(\.isASCII)
        var output = "xn--"
        output.unicodeScalars.append(contentsOf: basic)
        if !basic.isEmpty { output += "-" }
        var (code, delta, bias, done) = (128, 0, 72, basic.count)
        while done < scalars.count {
            guard let next = scalars.map({ Int($0.value) }).filter({ $0 >= code }).min() else { break }
            delta += (next - code) * (done + 1)
            code = next
            for scalar in scalars {
                if Int(scalar.value) < code { delta += 1 }
                guard Int(scalar.value) == code else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, done + 1, isFirst: done == basic.count)
                (delta, done) = (0, done + 1)
            }
            (delta, code) = (delta + 1, code + 1)
        }
        return output
    }

    /// A number of variable length, each digit with a threshold of its own (section 3.3).
    private static func append(_ delta: Int, _ bias: Int, to output: inout String) {
        var rest = delta
        var place = base
        while true {
            let threshold = min(max(place - bias, firstThreshold), lastThreshold)
            if rest < threshold { break }
            output.unicodeScalars.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            place += base
        }
        output.unicodeScalars.append(digit(rest))
    }

    /// a to z, then 0 to 9 (section 5).
    private static func digit(_ value: Int) -> Unicode.Scalar {
        Unicode.Scalar(UInt8(value < 26 ? 97 + value : 22 + value))
    }

    /// The bias for the next number (section 6.1).
    private static func adapted(_ delta: Int, _ count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var place = 0
        while delta > (base - firstThreshold) * lastThreshold / 2 {
            delta /= base - firstThreshold
            place += base
        }
        return place + (base - firstThreshold + 1) * delta / (delta + 38)
    }
}
