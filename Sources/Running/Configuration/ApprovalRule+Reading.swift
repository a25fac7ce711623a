// SPDX-License-Identifier: Apache-2.0
import RelayEngine
import Requirements

extension ApprovalRule {
    init(reading reader: ConfigurationReader) {
        _ = reader.choice("people", default: 2, among: [2], "how many people an act wants")
        let above =
            reader.parsed("above", default: "10%") { text throws(ShareFault) in
                guard let share = Self.share(text) else { throw ShareFault() }
                return share
            } ?? WavePlan.parts / 10
        self.init(
            above: above,
            within: reader.duration("within", default: "24h", in: .seconds(300)...(.seconds(30 * 86_400))))
        reader.finish()
    }

    /// Ten-thousandths, of a text such as "10%" or "0.5%".
    private static func share(_ text: String) -> Int? {
        guard text.hasSuffix("%"), text.utf8.first.map({ $0 &- 0x30 < 10 }) ?? false,
            let percent = Double(text.dropLast()), (0...99.99).contains(percent),
            case let parts = percent * Double(WavePlan.parts) / 100, abs(parts - parts.rounded()) < 1e-6
        else { return nil }
        return Int(parts.rounded())
    }

    private struct ShareFault: Error, CustomStringConvertible {
        let description = "is no share of the devices; a percentage from \"0%\" to \"99.99%\", such as \"10%\""
    }
}
