// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A memory BIO, with which OpenSSL reads and writes PEM without a file. Freed at the end of its scope.
@safe
struct Memory: ~Copyable {
    let bio: OpaquePointer

    /// Nil if there is no memory.
    init?() {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
        unsafe self.bio = bio
    }

    /// Holds a copy of `bytes`.
    init?(_ bytes: [UInt8]) {
        guard let memory = Memory(), let count = Int32(exactly: bytes.count) else { return nil }
        guard count == 0 || memory.append(bytes, count) else { return nil }
        self = memory
    }

    private func append(_ bytes: [UInt8], _ count: Int32) -> Bool {
        unsafe BIO_write(bio, bytes, count) == count
    }

    /// The bytes that were written and not read yet.
    func contents() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: unsafe relay_BIO_pending(bio))
        let count = unsafe BIO_read(bio, &bytes, Int32(bytes.count))
        return count == bytes.count ? bytes : []
    }

    deinit { unsafe BIO_free_all(bio) }
}
