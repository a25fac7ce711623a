// SPDX-License-Identifier: Apache-2.0
import PushSimulator
import SimulatorTools
import Testing

/// Bare mode's answers to bytes, in whatever parts they come.
@Suite struct BareFramesTests {
    private static let answers = BareAnswers(.apns(APNsTeam(topics: [], teamID: "", keys: [:])))
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// SETTINGS_MAX_CONCURRENT_STREAMS of 1000.
    private static let settings: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 3, 0xe8]

    private func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), type, flags, 0, 0, 0, stream] + payload
    }

    /// - Returns: the output after the server's SETTINGS, and the streams that have ended.
    private func said(to bytes: [UInt8], inPartsOf size: Int) -> (output: [UInt8], ended: [UInt32]) {
        var frames = BareFrames(maximumStreams: 1000, answers: Self.answers)
        #expect(frames.output == Self.settings)
        for start in stride(from: 0, to: bytes.count, by: size) {
            let part = Array(bytes[start..<min(start + size, bytes.count)])
            let goesOn = frames.receive(part.span)
            #expect(goesOn)
        }
        return (Array(frames.output.dropFirst(Self.settings.count)), frames.ended)
    }

    @Test(arguments: [1, 2, 7, 9, 10, 23, 1000]) func partsMakeNoDifference(size: Int) {
        let bytes =
            Self.preface + frame(4, 0, 0, [0, 4, 0, 0, 255, 255])
            // HEADERS and DATA, which ends the request; HEADERS that do; HEADERS with CONTINUATION; a PING; an answer to one.
            + frame(1, 4, 1, [1, 2, 3]) + frame(0, 1, 1, [4, 5])
            + frame(1, 5, 3, [6]) + frame(1, 1, 5, [7]) + frame(9, 4, 5, [8])
            + frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]) + frame(6, 1, 0, [8, 7, 6, 5, 4, 3, 2, 1])
            // SETTINGS' acknowledgement, RST_STREAM, WINDOW_UPDATE, and an unknown type.
            + frame(4, 1, 0) + frame(3, 0, 7, [0, 0, 0, 8]) + frame(8, 0, 0, [0, 0, 1, 0]) + frame(99, 255, 0, [1])
        let (output, ended) = said(to: bytes, inPartsOf: size)
        #expect(output == frame(4, 1, 0) + frame(6, 1, 0, [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(ended == [1, 3, 5])
    }

    @Test func theWindowIsGivenBackByHalves() {
        let data = frame(0, 0, 1, [UInt8](repeating: 0, count: 16_000))
        let (output, _) = said(to: Self.preface + data + data + data + data, inPartsOf: .max)
        #expect(output == frame(8, 0, 0, [0, 0, 0xbb, 0x80]))
    }

    @Test func anAnswerNamesItsStream() {
        var frames = BareFrames(maximumStreams: 1, answers: Self.answers)
        frames.output = []
        frames.answer(0x0123_4567)
        // HEADERS with END_STREAM and END_HEADERS; ":status: 200" is entry 8 of the static table (RFC 7541, appendix A).
        #expect(frames.output.prefix(10) == [0, 0, 35, 1, 5, 0x01, 0x23, 0x45, 0x67, 0x88])
        #expect(frames.output.count == 9 + 35)
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\nHost: a\r\n".utf8), preface + [1, 0, 0, 0, 0, 0, 0, 0, 1],
        preface + [0, 0, 7, 6, 0, 0, 0, 0, 0],
    ]) func whatCannotGoOnEnds(bytes: [UInt8]) {
        var frames = BareFrames(maximumStreams: 1, answers: Self.answers)
        let goesOn = frames.receive(bytes.span)
        #expect(!goesOn)
    }
}
