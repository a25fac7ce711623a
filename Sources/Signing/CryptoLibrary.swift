// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// OpenSSL as a part of the whole process.
package enum CryptoLibrary {
    /// Keeps what OpenSSL shares between threads until the process is gone. To be called before anything else uses OpenSSL,
    /// here or in libcurl.
    ///
    /// "By default OpenSSL will attempt to clean itself up when the process exits via an "atexit" handler"
    /// (OPENSSL_init_crypto(3)): under the feet of a thread that is in the middle of a handshake, which then crashes what
    /// was an orderly end.
    package static func keepUntilTheEnd() {
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
