// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An OpenSSL library context with the ciphers of the last century, for files that macOS's Keychain Access still writes with
/// them (RC2 with 40 bits, RFC 2268). It is separate from the context that all else uses, where these ciphers stay unknown
/// (OSSL_LIB_CTX(3), OSSL_PROVIDER-legacy(7)).
///
/// Objects that were read with it must be freed before it.
@safe
final class LegacyLibrary {
    let context: OpaquePointer
    private let legacy: OpaquePointer
    private let usual: OpaquePointer

    /// Nil where this machine does not have the provider, which is a separate file that some installations lack.
    ///
    /// - Parameter provider: its name.
    init?(provider: String) {
        guard let context = unsafe OSSL_LIB_CTX_new() else { return nil }
        guard let legacy = unsafe OSSL_PROVIDER_load(context, provider) else {
            unsafe OSSL_LIB_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        // Once a provider is loaded by name, the default one is no longer loaded automatically (OSSL_PROVIDER_load(3)).
        guard let usual = unsafe OSSL_PROVIDER_load(context, "default") else {
            _ = unsafe OSSL_PROVIDER_unload(legacy)
            unsafe OSSL_LIB_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        unsafe self.context = context
        unsafe self.legacy = legacy
        unsafe self.usual = usual
    }

    deinit {
        _ = unsafe OSSL_PROVIDER_unload(usual)
        _ = unsafe OSSL_PROVIDER_unload(legacy)
        unsafe OSSL_LIB_CTX_free(context)
        ERR_clear_error()
    }

    /// Opens something with the process's own context, and with a legacy one only where its ciphers are needed.
    ///
    /// - Parameter open: opens it with the given library context; nil: with the process's own.
    static func opening<Content>(
        provider: String, _ open: (OpaquePointer?) throws(OpeningFailure) -> Content
    ) throws(OpeningFailure) -> Content {
        do throws(OpeningFailure) {
            return try open(nil)
        } catch {
            guard case .needsLegacyProvider = error, let legacy = LegacyLibrary(provider: provider) else {
                throw error
            }
            defer { withExtendedLifetime(legacy) {} }
            return try unsafe open(legacy.context)
        }
    }
}

/// The reason why a key, or a PKCS#12 file, cannot be opened.
enum OpeningFailure: Error, Hashable {
    /// The password does not open it, or it needs one and none was given.
    case wrongPassword(given: Bool)
    /// Encrypted with a cipher that only the legacy provider has, and this machine has no such provider.
    case needsLegacyProvider
    case damaged(SigningError)

    /// For content that was opened and cannot be copied.
    init(_ error: any Error) {
        self = .damaged(error as? SigningError ?? SigningError(.failed, "\(error)"))
    }
}
