// SPDX-License-Identifier: Apache-2.0
import CCurl

/// A TLS connection that has agreed on HTTP/2: bytes out, bytes in. Neither call ever waits.
///
/// `@unchecked Sendable` because it has one owner at a time: the thread that dialled hands it over through a mutex, and from
/// then on only the lane's thread touches it. Closed (with TLS's close_notify) when the last reference goes.
package final class DialedConnection: @unchecked Sendable {
    package enum Sent: Sendable {
        /// The number of bytes that were taken, possibly fewer than given.
        case wrote(Int)
        /// The socket is full. Try again with the *same* bytes at the *same* address when it is writable: OpenSSL has
        /// begun a record with them (SSL_write(3), "the same arguments").
        case again
        case failed(TransportError)
    }

    package enum Received: Sendable {
        case received(Int)
        /// Nothing more at present; epoll reports when there is.
        case again
        /// The peer has closed its side.
        case closed
        case failed(TransportError)
    }

    /// For epoll; the caller must not close it.
    package let socket: Int32
    private let handle: EasyHandle

    init(handle: EasyHandle, socket: Int32) {
        self.handle = handle
        self.socket = socket
    }

    package func send(_ bytes: UnsafeRawBufferPointer) -> Sent {
        var count = 0
        let result = unsafe curl_easy_send(handle.pointer, bytes.baseAddress, bytes.count, &count)
        switch result {
        case CURLE_OK: return .wrote(count)
        case CURLE_AGAIN: return .again
        default: return .failed(handle.broken(result))
        }
    }

    /// Reads into a buffer. Repeat until `.again`: epoll does not report decrypted bytes that wait in OpenSSL.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        var count = 0
        let result = unsafe curl_easy_recv(handle.pointer, buffer.baseAddress, buffer.count, &count)
        switch result {
        case CURLE_OK: return count == 0 ? .closed : .received(count)
        case CURLE_AGAIN: return .again
        default: return .failed(handle.broken(result))
        }
    }
}
