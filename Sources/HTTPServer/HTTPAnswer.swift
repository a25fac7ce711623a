// SPDX-License-Identifier: Apache-2.0
import CMicroHTTPD
import Dispatch
import Synchronization

/// Answers on their way into libmicrohttpd.
enum HTTPAnswer {
    /// - Returns: NO where there is no memory for it: the connection is closed.
    @unsafe
    static func queue(
        _ response: Response, on handle: OpaquePointer, _ connection: Connection, _ thread: ServingThread
    ) -> MHD_Result {
        if case .ready(let ready) = response.body { return unsafe ready.queue(on: handle) }
        guard let made = unsafe make(response, handle, connection, thread) else { return .NO }
        // Counted by the library: it goes when the connection has sent it too.
        defer { unsafe MHD_destroy_response(made) }
        return unsafe MHD_queue_response(handle, UInt32(response.status), made)
    }

    @unsafe
    private static func make(
        _ response: Response, _ handle: OpaquePointer, _ connection: Connection, _ thread: ServingThread
    ) -> OpaquePointer? {
        let made: OpaquePointer?
        switch response.body {
        case .bytes(let bytes):
            unsafe made = unsafe copy(bytes)
        case .shared(let bytes):
            unsafe made = unsafe bytes.response()
        case .stream(let source):
            let body = unsafe StreamBody(source, Resumption(handle, thread), connection, thread.context.work)
            let pointer = unsafe Unmanaged.passRetained(body).toOpaque()
            // The size is unknown: chunked (MHD_SIZE_UNKNOWN).
            unsafe made = unsafe MHD_create_response_from_callback(UInt64.max, 32 * 1024, readBody, pointer, freeBody)
            if unsafe made == nil { unsafe Unmanaged<StreamBody>.fromOpaque(pointer).release() }
        case .ready:
            return nil
        }
        guard let made = unsafe made else { return nil }
        unsafe add(response.headers, to: made)
        return unsafe made
    }

    @unsafe
    fileprivate static func copy(_ bytes: [UInt8]) -> OpaquePointer? {
        unsafe bytes.withUnsafeBytes { buffer in
            // The library only reads it; MUST_COPY: "the buffer is copied" before the call returns.
            unsafe MHD_create_response_from_buffer(
                buffer.count, UnsafeMutableRawPointer(mutating: buffer.baseAddress), .RESPMEM_MUST_COPY)
        }
    }

    @unsafe
    fileprivate static func add(_ headers: [(name: String, value: String)], to made: OpaquePointer) {
        for header in headers {
            // Refused only for a line break in it, and then left out: header injection ends here.
            _ = unsafe MHD_add_response_header(made, header.name, header.value)
        }
    }
}

/// An answer that is made once and sent many times.
///
/// `@unchecked Sendable`: a response is counted under its own lock, and is not changed after it was first queued
/// (microhttpd.h, `struct MHD_Response`: "can be queued for several connections").
@safe
package final class ReadyResponse: @unchecked Sendable {
    private let status: UInt32
    private let made: OpaquePointer

    /// nil where there is no memory.
    package init?(_ status: Int, _ headers: [(name: String, value: String)], _ bytes: [UInt8]) {
        guard let made = unsafe HTTPAnswer.copy(bytes) else { return nil }
        unsafe HTTPAnswer.add(headers, to: made)
        self.status = UInt32(status)
        unsafe self.made = made
    }

    deinit {
        unsafe MHD_destroy_response(made)
    }

    @unsafe
    fileprivate func queue(on connection: OpaquePointer) -> MHD_Result {
        unsafe MHD_queue_response(connection, status, made)
    }
}

/// A source and what of its last piece did not fit. Pieces are made on threads that may wait, while the connection is
/// suspended.
private final class StreamBody: Sendable {
    private enum State {
        case piece([UInt8], sent: Int)
        case waiting
        case ended
        case failed
    }

    /// `nonisolated(unsafe)`: used by one piece's making at a time; the next begins after the last was taken.
    nonisolated(unsafe) private let source: any ByteSource
    private let resumption: Resumption
    private let connection: Connection
    private let make: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State.piece([], sent: 0))

    @unsafe
    init(_ source: any ByteSource, _ resumption: Resumption, _ connection: Connection, _ work: WorkQueues) {
        unsafe self.source = source
        self.resumption = resumption
        self.connection = connection
        if source.mayWaitLong {
            let queue = DispatchQueue(label: "stream")
            make = { queue.async(execute: $0) }
        } else {
            make = work[.reads].submit
        }
    }

    /// The number of bytes written; 0 after the connection was suspended; or one of MHD_CONTENT_READER_END_OF_STREAM (-1)
    /// and _END_WITH_ERROR (-2).
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = state.withLock { state -> Int? in
            switch state {
            case .waiting: return 0
            case .ended: return -1
            case .failed: return -2
            case .piece(let piece, let sent):
                guard sent < piece.count else {
                    state = .waiting
                    return nil
                }
                let count = min(buffer.count, piece.count - sent)
                unsafe buffer.copyBytes(from: piece[sent..<sent + count])
                state = .piece(piece, sent: sent + count)
                return count
            }
        }
        if let count {
            if count > 0 { connection.progressed() }
            return count
        }
        connection.waits()
        resumption.suspend()
        make { [self] in
            let next: State
            do {
                next = unsafe try source.next().map { .piece($0, sent: 0) } ?? .ended
            } catch {
                next = .failed
            }
            state.withLock { $0 = next }
            connection.progressed()
            resumption.resume()
        }
        return 0
    }
}

private func readBody(
    _ body: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
) -> Int {
    guard let body = unsafe body, let buffer = unsafe buffer else { return -2 }
    let stream = unsafe Unmanaged<StreamBody>.fromOpaque(body).takeUnretainedValue()
    return unsafe stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

private func freeBody(_ body: UnsafeMutableRawPointer?) {
    guard let body = unsafe body else { return }
    unsafe Unmanaged<StreamBody>.fromOpaque(body).release()
}
