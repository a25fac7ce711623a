// SPDX-License-Identifier: Apache-2.0
import CMicroHTTPD

/// A body that many are answered with: it lies in memory once, however many connections ask for it and do not read.
///
/// `@unchecked Sendable`: the bytes are not changed after they were made.
@safe
package final class SharedBytes: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer

    package init(_ bytes: [UInt8]) {
        unsafe self.bytes = .allocate(byteCount: bytes.count, alignment: 1)
        unsafe self.bytes.copyBytes(from: bytes)
    }

    deinit {
        unsafe bytes.deallocate()
    }

    /// A response of the library that keeps the bytes for as long as it needs them; nil where there is no memory for it.
    @unsafe
    func response() -> OpaquePointer? {
        let owner = unsafe Unmanaged.passRetained(self)
        let made = unsafe MHD_create_response_from_buffer_with_free_callback_cls(
            bytes.count, bytes.baseAddress, release, owner.toOpaque())
        if unsafe made == nil { unsafe owner.release() }
        return unsafe made
    }
}

private func release(_ owner: UnsafeMutableRawPointer?) {
    guard let owner = unsafe owner else { return }
    unsafe Unmanaged<SharedBytes>.fromOpaque(owner).release()
}
