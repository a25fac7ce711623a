// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// OpenSSL's state in the whole process.
package enum CryptoLibrary {
    /// Keeps OpenSSL's shared state until the process is gone. Must be called before any other use of OpenSSL, here or in
    /// libcurl.
    ///
    /// "By default OpenSSL will attempt to clean itself up when the process exits via an "atexit" handler"
    /// (OPENSSL_init_crypto(3)): a thread in the middle of a handshake would then crash an orderly exit.
    package static func keepUntilTheEnd() {
        _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
