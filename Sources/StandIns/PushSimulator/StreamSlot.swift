// SPDX-License-Identifier: Apache-2.0

/// One request and its answer. Reused by later streams, so that a push allocates no memory here.
@safe
final class StreamSlot {
    let index: Int
    var stream: Int32 = 0
    var headers = RequestHeaders()
    /// The first `mostPayload` bytes of the payload: a longer payload cannot be right.
    private(set) var payload: [UInt8] = []
    private(set) var payloadSize = 0
    var answer = PushAnswer()
    /// Whether the request has ended and its answer has not been handed to nghttp2 yet.
    var isWaiting = false
    /// Whether this push has been judged: `answer` is its answer, whether or not it has been sent.
    var isJudged = false
    /// The refused targets of a push to several: the places and reasons.
    var refusals: [(place: Int, reason: RejectionReason)] = []
    /// The answer's body, and how much of it went out.
    var body: [UInt8] = []
    private var bodySent = 0
    /// The apns-id of the answer. It has memory of its own, because nghttp2 reads it only when it packs the frame.
    let idBytes: UnsafeMutableBufferPointer<UInt8>
    private(set) var hasID = false
    /// The hash of an id that is not in `idBytes`.
    var foreignIDHash: UInt64?

    /// The most bytes of a payload that are kept: more than any service takes.
    private static let mostPayload = 32_768

    init(index: Int) {
        self.index = index
        unsafe idBytes = .allocate(capacity: 36)
        unsafe idBytes.initialize(repeating: 0)
    }

    deinit { unsafe idBytes.deallocate() }

    func begin(_ stream: Int32) {
        self.stream = stream
        answer = PushAnswer()
        if payloadSize > 0 || !headers.isEmpty {
            headers.removeAll()
            payload.removeAll(keepingCapacity: true)
            payloadSize = 0
        }
        isWaiting = false
        isJudged = false
        if !body.isEmpty {
            body.removeAll(keepingCapacity: true)
            bodySent = 0
        }
        if !refusals.isEmpty { refusals.removeAll(keepingCapacity: true) }
        hasID = false
        foreignIDHash = nil
    }

    func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        payloadSize += bytes.count
        let room = Self.mostPayload - payload.count
        unsafe payload.append(contentsOf: bytes.prefix(room))
    }

    /// Keeps an id for the answer if it has an id's length.
    func takeID(_ value: ArraySlice<UInt8>) {
        guard value.count == 36 else { return }
        unsafe _ = idBytes.update(fromContentsOf: value)
        hasID = true
    }

    /// Makes an id if the slot has none, as APNs does where the client sent none.
    func ensureID() {
        guard !hasID else { return }
        hasID = true
        let digits: StaticString = "0123456789abcdef"
        var high = UInt64.random(in: 0 ... .max)
        var low = UInt64.random(in: 0 ... .max)
        // RFC 9562 section 5.4: version 4 and variant 10.
        high = high & ~0xf000 | 0x4000
        low = low & ~(0b11 << 62) | 0b10 << 62
        for place in 0..<36 {
            switch place {
            case 8, 13, 18, 23: unsafe idBytes[place] = UInt8(ascii: "-")
            default:
                unsafe idBytes[place] = digits.utf8Start[Int(high >> 60)]
                high = high << 4 | low >> 60
                low <<= 4
            }
        }
    }

    var id: [UInt8] { unsafe Array(idBytes) }
    var idHash: UInt64 { unsafe foreignIDHash ?? ShortHash.ofToken(idBytes) }

    /// Copies as much of the body as fits.
    func copyBody(to room: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool) {
        let count = min(room.count, body.count - bodySent)
        unsafe _ = room.update(fromContentsOf: body[bodySent..<bodySent + count])
        bodySent += count
        return (count, bodySent == body.count)
    }
}
