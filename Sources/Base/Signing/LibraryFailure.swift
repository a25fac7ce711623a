// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Turns OpenSSL's per-thread error queue into one error.
enum LibraryFailure {
    /// Reads the last error and empties the queue. Emptying matters: "The current thread's error queue must be empty
    /// before the TLS/SSL I/O operation is attempted, or SSL_get_error() will not work reliably" (SSL_get_error(3)).
    static func taken(
        _ context: String, code: SigningError.Code = .failed, hint: String? = nil
    ) -> SigningError {
        let number = ERR_peek_last_error()
        ERR_clear_error()
        guard number != 0, let reason = unsafe ERR_reason_error_string(number) else {
            return SigningError(code, context, hint: hint)
        }
        return unsafe SigningError(code, "\(context): \(String(cString: reason))", hint: hint)
    }
}
