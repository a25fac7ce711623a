// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// One client that uses HTTP/1.1 (RFC 9112), as Google's own libraries do: one request after another on a connection that
/// stays open. Each is judged as a request of HTTP/2 is.
final class PlainSession: SimulatorSession {
    private let number: UInt64
    private let judge: RequestJudge
    private let delaysAnswers: Bool
    /// The header fields that are read, besides method and path.
    private let fields: [(place: Int, name: String)]
    private var reader: RequestReader
    private var input: [UInt8] = []
    /// The part of the input that has not been read yet.
    private var rest = 0..<0
    private var credential = ConnectionCredential()
    private let slot = StreamSlot(index: 0)
    private var requests: Int32 = 0
    private var pushes = 0
    private var keepsAlive = true
    private var output: [UInt8] = []
    private var delayed: [DelayedAnswer] = []
    /// Whether a request was judged and its answer has not been written yet.
    private var isWaiting = false
    /// Whether nothing more is read.
    private var isClosing = false
    /// Set once the script has cut the connection, or made it silent.
    private var end: SimulatorConnection.Need?

    /// - Parameter number: the connection's number.
    init(number: UInt64, judge: RequestJudge, delaysAnswers: Bool) {
        (self.number, self.judge, self.delaysAnswers) = (number, judge, delaysAnswers)
        fields = judge.headers.all.map { ($0.place, $0.name.description) }.filter { !$0.1.hasPrefix(":") }
        reader = RequestReader(RequestRules(target: 8192, head: 16_384, handed: fields.map(\.name)))
    }

    // MARK: Bytes

    func receive(_ bytes: UnsafeBufferPointer<UInt8>) -> SimulatorConnection.Need? {
        if rest.isEmpty {
            input.removeAll(keepingCapacity: true)
            rest = 0..<0
        }
        unsafe input.append(contentsOf: bytes)
        rest = rest.lowerBound..<input.count
        read()
        return end
    }

    func pack(into output: inout [UInt8]) {
        output.removeAll(keepingCapacity: true)
        swap(&output, &self.output)
    }

    var isOver: Bool { isClosing && !isWaiting }

    /// Reads requests until the answer to one has to wait: the next request is read after that answer was written.
    private func read() {
        while !isWaiting, !isClosing, end == nil {
            switch reader.next(input, &rest) {
            case .more: return
            case .head(let head): begin(head)
            case .body(let range):
                unsafe input.withUnsafeBufferPointer { unsafe slot.append(UnsafeBufferPointer(rebasing: $0[range])) }
            case .end: requestEnded()
            case .refused(let refusal):
                isClosing = true
                write(status: UInt16(refusal.status), [], Array(refusal.detail.utf8))
            }
        }
    }

    private func begin(_ head: RequestHead) {
        requests += 1
        slot.begin(requests)
        keepsAlive = head.keepsAlive
        slot.headers.add(Array(head.method.utf8).span, at: KnownHeader.method.place)
        slot.headers.add(Array(head.target.utf8).span, at: KnownHeader.path.place)
        for (place, name) in fields {
            guard let value = head.headers[name] else { continue }
            slot.headers.add(Array(value.utf8).span, at: place)
        }
        // RFC 9110, section 10.1.1.
        if head.expectsContinue { output += "HTTP/1.1 100 Continue\r\n\r\n".utf8 }
        judge.figures.peakStreams = max(judge.figures.peakStreams, 1)
    }

    // MARK: Requests

    private func requestEnded() {
        guard let answer = judge.answer(to: slot, credential: &credential, connection: number) else {
            // HTTP/1.1 has no equivalent of REFUSED_STREAM, which promises that the request was not processed.
            end = .close
            return
        }
        if answer.isPush { pushes += 1 }
        slot.answer = answer
        slot.isJudged = answer.isPush
        isWaiting = true
        var isLate = false
        switch answer.fault {
        case .reset:
            judge.note(.reset, slots: [slot])
            end = .reset
        case .noAnswer: if answer.isPush { judge.note(.noAnswer, slots: [slot]) }
        case .cut?, .silence?: break
        default:
            isLate = answer.fault == .delay
            if delaysAnswers || isLate { delayed.append(DelayedAnswer(stream: requests, isLate: isLate)) }
        }
        if answer.isPush { follow(answer) }
        // Written last, so that the answer announces the end of the connection if the script demands it.
        if isWaiting, end == nil, delayed.isEmpty, answer.fault != .noAnswer { writeAnswer() }
    }

    private func follow(_ answer: PushAnswer) {
        switch judge.aftermath(of: answer, numberOnConnection: pushes) {
        case .nothing, .setStreams: break
        case .silence: end = .silence
        case .cut(let how):
            end = how == .end ? .drain : how == .reset ? .reset : .close
            judge.figures.cuts += 1
        case .goAway:
            keepsAlive = false
            judge.figures.goAways += 1
        }
        switch answer.fault {
        case .delay?, .goAway?, .settings?: if let fault = answer.fault { judge.note(fault, slots: []) }
        case .cut?: judge.note(.cut, slots: [slot])
        case .silence?: judge.note(.silence, slots: [slot])
        case .reset?, .noAnswer?, .rejection?, .refusedStream?, nil: break
        }
    }

    // MARK: Answers

    func takeDelayed() -> [DelayedAnswer] {
        defer { delayed.removeAll(keepingCapacity: true) }
        return delayed
    }

    func answer(_ answer: DelayedAnswer) {
        guard isWaiting, answer.stream == requests, end == nil else { return }
        writeAnswer()
        read()
    }

    private func writeAnswer() {
        isWaiting = false
        let type =
            switch judge.rules.field(of: slot.answer) {
            case .json: "application/json; charset=UTF-8"
            case .page, .id: "text/html; charset=UTF-8"
            }
        var fields: [(StaticString, [UInt8])] = [("content-type", Array(type.utf8))]
        if let seconds = slot.answer.retryAfter { fields.append(("retry-after", judge.retryAfterText(seconds))) }
        if !keepsAlive { isClosing = true }
        write(status: slot.answer.status, fields, slot.body)
    }

    private func write(status: UInt16, _ fields: [(StaticString, [UInt8])], _ body: [UInt8]) {
        // A server "MUST send the space" before the reason phrase "even when the reason-phrase is absent" (RFC 9112, section
        // 4).
        output += "HTTP/1.1 \(status) \r\n".utf8
        for (name, value) in fields { output += "\(name): ".utf8 + value + "\r\n".utf8 }
        if isClosing { output += "connection: close\r\n".utf8 }
        output += "content-length: \(body.count)\r\n\r\n".utf8 + body
    }
}
