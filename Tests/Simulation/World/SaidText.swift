// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer

/// A channel's answer, as bytes: JSON without spaces. It is searched a dozen times for each answer that is judged, so nothing here makes a
/// text of the whole.
struct SaidText {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The answer that every client gets; empty where it is not bytes.
    init(_ content: PreparedContent) {
        self.init(content.response(to: RequestHead(method: "GET", target: "/"), isShared: false).body)
    }

    init(_ body: Response.Body) {
        if case .bytes(let bytes) = body { self.init(bytes) } else { self.init([]) }
    }

    func contains(_ word: String) -> Bool { end(of: word) != nil }

    /// The first text under a name.
    func value(_ name: String) -> String? { end(of: "\"\(name)\":\"").map(text) }

    /// The first text under a name, after a word.
    func value(_ name: String, after word: String) -> String? {
        end(of: word).flatMap { place in end(of: "\"\(name)\":\"", from: place) }.map(text)
    }

    /// The end of a word's first occurrence.
    private func end(of word: String, from first: Int = 0) -> Int? {
        var word = word
        return word.withUTF8 { word in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress, let wanted = word.baseAddress else { return nil }
                var place = first
                while place + word.count <= bytes.count {
                    let room = bytes.count - place - word.count + 1
                    guard let found = unsafe memchr(start + place, Int32(wanted.pointee), room) else { return nil }
                    if unsafe memcmp(found, wanted, word.count) == 0 {
                        return unsafe UnsafeRawPointer(found) - start + word.count
                    }
                    place = unsafe UnsafeRawPointer(found) - start + 1
                }
                return nil
            }
        }
    }

    /// The text from a place to its closing quote.
    private func text(from place: Int) -> String {
        String(decoding: bytes[place...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
    }
}
