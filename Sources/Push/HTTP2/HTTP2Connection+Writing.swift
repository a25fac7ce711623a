// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import CurlTransport

/// Frames out: from the session into records, joined with the fields that nghttp2 does not see.
extension HTTP2Connection {
    /// RFC 9113, 4.1.
    static let frameHeadSize = 9
    /// The size that every peer takes (RFC 9113, 4.2: SETTINGS_MAX_FRAME_SIZE is 16,384 or more).
    static let frameLimit = 16384

    /// Writes until the session has nothing more or the socket is full.
    /// - Parameter fullRecordsOnly: bytes that do not fill a record stay, because more is about to follow.
    func flush(fullRecordsOnly: Bool = false) {
        guard failure == nil, writeFailure == nil else { return }
        while true {
            if outSent == outCount {
                outSent = 0
                outCount = 0
            }
            // Bytes that OpenSSL has begun to send must come again unchanged.
            if outSent == 0, !isBlocked {
                guard refill() else { return }
            }
            if outCount == 0 || fullRecordsOnly && outCount < Self.outCapacity { return }
            switch unsafe dialed.send(UnsafeRawBufferPointer(start: out + outSent, count: outCount - outSent)) {
            case .wrote(let count):
                outSent += count
                isBlocked = false
            case .again:
                isBlocked = true
                return
            case .failed(let error):
                writeFailure = error.reason
                return
            }
        }
    }

    /// Many frames into one buffer: one record, one system call.
    private func refill() -> Bool {
        while outCount < Self.outCapacity {
            if frameRestCount == 0 {
                var frame: UnsafePointer<UInt8>?
                let count = unsafe nghttp2_session_mem_send(session, &frame)
                guard count >= 0 else {
                    fail("libnghttp2 cannot write: \(Self.text(of: Int32(count)))")
                    return false
                }
                guard count > 0, let frame = unsafe frame else { break }
                if unsafe frame[3] == UInt8(NGHTTP2_HEADERS.rawValue) {
                    guard unsafe join(frame, count: count) else { return false }
                    continue
                }
                unsafe frameRest = frame
                frameRestCount = count
            }
            guard let rest = unsafe frameRest else { break }
            let part = min(frameRestCount, Self.outCapacity - outCount)
            unsafe (out + outCount).update(from: rest, count: part)
            outCount += part
            frameRestCount -= part
            unsafe frameRest = unsafe rest + part
        }
        return true
    }

    // MARK: Header blocks

    /// Puts a request's literal fields into its HEADERS frame, straight into the record where there is room.
    private func join(_ frame: UnsafePointer<UInt8>, count: Int) -> Bool {
        // Without padding and priority, only the block follows the frame's head.
        let isPlain = unsafe frame[4] & UInt8(NGHTTP2_FLAG_PADDED.rawValue | NGHTTP2_FLAG_PRIORITY.rawValue) == 0
        let stream = unsafe Int32(
            bitPattern: UInt32(frame[5]) << 24 | UInt32(frame[6]) << 16 | UInt32(frame[7]) << 8 | UInt32(frame[8]))
        guard isPlain, let index = unsafe Self.slot(of: stream, session) else {
            fail("libnghttp2 writes a HEADERS frame of no stream")
            return false
        }
        let reference = unsafe slots.slots[index].reference
        guard let prepared = pool.prepared(reference) else {
            fail("a request's fields are gone before its HEADERS frame")
            return false
        }
        let literals = prepared.template.literals
        let values = unsafe prepared.slots(of: Int(reference.request))
        let total = unsafe count + literals.size(slots: values)
        let length = total - Self.frameHeadSize
        guard length <= Self.frameLimit else {
            fail("a request's header fields take \(length) bytes; a frame takes \(Self.frameLimit)")
            return false
        }
        let fits = total <= Self.outCapacity - outCount
        let target = unsafe fits ? out + outCount : pool.turn.wholeFrame
        unsafe target.update(from: frame, count: Self.frameHeadSize)
        unsafe target[0] = UInt8(truncatingIfNeeded: length >> 16)
        unsafe target[1] = UInt8(truncatingIfNeeded: length >> 8)
        unsafe target[2] = UInt8(truncatingIfNeeded: length)
        let block = unsafe UnsafeBufferPointer(start: frame + Self.frameHeadSize, count: count - Self.frameHeadSize)
        let updates = unsafe Self.tableSizeUpdates(block)
        var end = unsafe target + Self.frameHeadSize
        unsafe end.update(from: frame + Self.frameHeadSize, count: updates)
        unsafe end = literals.write(.front, to: end + updates, arena: prepared.arena, slots: values)
        unsafe end.update(from: frame + Self.frameHeadSize + updates, count: block.count - updates)
        _ = unsafe literals.write(
            .back, to: end + (block.count - updates), arena: prepared.arena, slots: values)
        if fits {
            outCount += total
        } else {
            let part = Self.outCapacity - outCount
            unsafe (out + outCount).update(from: target, count: part)
            outCount += part
            unsafe keepRest(UnsafeBufferPointer(start: target + part, count: total - part))
        }
        return true
    }

    /// The number of bytes of table size updates at the beginning of a header block: "MUST occur at the beginning of
    /// the first header block following the change" (RFC 7541, 4.2).
    private static func tableSizeUpdates(_ block: UnsafeBufferPointer<UInt8>) -> Int {
        var end = 0
        while end < block.count, unsafe block[end] & 0xE0 == 0x20 {
            let goesOn = unsafe block[end] & 0x1F == 0x1F
            end += 1
            while goesOn, end < block.count {
                end += 1
                if unsafe block[end - 1] & 0x80 == 0 { break }
            }
        }
        return end
    }
}
