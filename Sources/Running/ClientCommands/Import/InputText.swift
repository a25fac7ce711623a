// SPDX-License-Identifier: Apache-2.0
import WireFormat

/// The kind of a file's bytes, by their beginning: text in UTF-8 or UTF-16, or another kind with a name. Pure.
enum InputText: Sendable, Equatable {
    case utf8(mark: Int)
    case utf16(mark: Int, isLittleEndian: Bool)
    /// Another kind, and advice on what to do about it.
    case other(String, hint: String)

    /// The number of bytes examined at the beginning of the file.
    static let sample = 65_536

    private static let marks: [(bytes: [UInt8], text: InputText)] = [
        (
            Array("PK\u{3}\u{4}".utf8),
            .other("a ZIP archive, as Excel's workbooks are", hint: "save the sheet as CSV UTF-8")
        ),
        ([0xD0, 0xCF, 0x11, 0xE0], .other("a workbook of an old Excel", hint: "save the sheet as CSV UTF-8")),
        ([0x1F, 0x8B], .other("compressed by gzip", hint: "gunzip -c FILE | upgrade-relay devices import -")),
    ]

    /// - Parameter sample: the beginning, or the whole of a smaller file.
    init(_ sample: ArraySlice<UInt8>) {
        if let (mark, length) = TextMark.found(in: sample) {
            self =
                switch mark {
                case .utf8: .utf8(mark: length)
                case .utf16(let isLittleEndian): .utf16(mark: length, isLittleEndian: isLittleEndian)
                case .utf32: .other("UTF-32", hint: Self.convert("UTF-32"))
                }
        } else if let mark = Self.marks.first(where: { sample.starts(with: $0.bytes) }) {
            self = mark.text
        } else if sample.count >= 2, sample.first != 0, sample.dropFirst().first == 0 {
            // The first character of a table's header is ASCII.
            self = .utf16(mark: 0, isLittleEndian: true)
        } else if sample.count >= 2, sample.first == 0, sample.dropFirst().first != 0 {
            self = .utf16(mark: 0, isLittleEndian: false)
        } else {
            self = Self.unmarked(sample)
        }
    }

    /// A damaged byte only causes its line to be refused. Where damage outnumbers the characters beyond ASCII, another encoding is assumed.
    private static func unmarked(_ sample: ArraySlice<UInt8>) -> InputText {
        var (good, bad) = (0, 0)
        // The end of the sample may split a character.
        var bytes = sample.dropLast(sample.count < Self.sample ? 0 : sample.reversed().prefix { $0 >= 0x80 }.count)
            .makeIterator()
        var parser = Unicode.UTF8.ForwardParser()
        reading: while true {
            switch parser.parseScalar(from: &bytes) {
            case .valid(let character): good += character.count > 1 ? 1 : 0
            case .error: bad += 1
            case .emptyInput: break reading
            }
        }
        guard bad > good else { return .utf8(mark: 0) }
        return .other(
            "not in UTF-8, but perhaps in GBK or Latin-1",
            hint: convert("GBK") + ", or the same with -f WINDOWS-1252; see which one can be read")
    }

    private static func convert(_ name: String) -> String {
        "convert it: iconv -f \(name) -t UTF-8 FILE | upgrade-relay devices import -"
    }

    static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }
}

/// Converts UTF-16 to UTF-8, however the text is cut into pieces. An invalid unit becomes U+FFFD. Pure.
struct UTF16Reader: Sendable {
    private let isLittleEndian: Bool
    /// The first byte of a code unit whose second has not come yet.
    private var waiting: UInt8?
    /// The first of two surrogates.
    private var high: UInt16?

    init(isLittleEndian: Bool) {
        self.isLittleEndian = isLittleEndian
    }

    mutating func feed(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var units: [UInt16] = []
        if let high { units.append(high) }
        high = nil
        for byte in bytes {
            guard let first = waiting else {
                waiting = byte
                continue
            }
            waiting = nil
            units.append(isLittleEndian ? UInt16(byte) << 8 | UInt16(first) : UInt16(first) << 8 | UInt16(byte))
        }
        if let last = units.last, UTF16.isLeadSurrogate(last) { high = units.removeLast() }
        return Self.text(units)
    }

    mutating func finish() -> [UInt8] {
        let rest = high != nil || waiting != nil
        (high, waiting) = (nil, nil)
        return rest ? Array("\u{FFFD}".utf8) : []
    }

    private static func text(_ units: [UInt16]) -> [UInt8] { Array(String(decoding: units, as: UTF16.self).utf8) }
}
