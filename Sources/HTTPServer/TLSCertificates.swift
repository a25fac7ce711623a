// SPDX-License-Identifier: Apache-2.0
import CMicroHTTPD
import Signing
import Synchronization

/// The certificate that TLS is spoken with at this moment. Exchanged while connections live: each handshake takes the one
/// of its moment.
///
/// `@unchecked Sendable`: the pairs are made before they are put in here, never changed, and freed in `deinit`. Old ones
/// stay: a handshake may still be reading one, and a few kilobytes each year are cheaper than knowing when it is done.
@safe
final class TLSCertificates: @unchecked Sendable {
    /// All that were ever used; the last one is the current one.
    private let pairs: Mutex<[Pair]>

    /// GnuTLS's form of one; wrapped so that the mutex can hold it.
    @safe
    private struct Pair: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<relay_tls_pair>
        let identity: ServerIdentity
    }

    init(_ identity: ServerIdentity) throws(ServerStartError) {
        pairs = Mutex([try Self.make(identity)])
    }

    deinit {
        for pair in pairs.withLock({ $0 }) { unsafe relay_tls_pair_free(pair.pointer) }
    }

    /// - Returns: false where it is the one in use already.
    func exchange(for identity: ServerIdentity) throws(ServerStartError) -> Bool {
        if pairs.withLock({ $0.last?.identity == identity }) { return false }
        let pair = try Self.make(identity)
        pairs.withLock { $0.append(pair) }
        return true
    }

    private static func make(_ identity: ServerIdentity) throws(ServerStartError) -> Pair {
        var status: Int32 = 0
        let pointer = unsafe relay_tls_pair_new(
            identity.chain, UInt32(identity.chain.count), identity.privateKey, UInt32(identity.privateKey.count),
            &status)
        guard let pointer = unsafe pointer else {
            let reason = unsafe gnutls_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)"
            throw ServerStartError(
                .badCertificate, "listen.tls: GnuTLS does not take the certificate or its key: \(reason)")
        }
        return unsafe Pair(pointer: pointer, identity: identity)
    }

    /// For GnuTLS's retrieve callback: 0.
    @unsafe
    func hand(
        to chain: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, _ count: UnsafeMutablePointer<UInt32>?,
        _ key: UnsafeMutablePointer<gnutls_privkey_t?>?
    ) -> Int32 {
        guard let current = pairs.withLock({ $0.last }), let chain = unsafe chain, let count = unsafe count,
            let key = unsafe key
        else { return -1 }
        unsafe chain.pointee = unsafe relay_tls_pair_certificates(current.pointer)
        unsafe count.pointee = unsafe current.pointer.pointee.count
        unsafe key.pointee = unsafe current.pointer.pointee.key
        return 0
    }
}
