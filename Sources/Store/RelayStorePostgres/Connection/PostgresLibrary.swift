// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
package import RelayStore

/// PostgreSQL's client library, which is loaded when a store first needs it. A value of this type proves that it may be
/// called.
package struct PostgresLibrary: Sendable {
    /// As PQlibVersion counts: 150018 is 15.18.
    package let version: Int32

    /// The library of this machine, opened at the first call; never closed, since connections live as long as the process.
    ///
    /// - Throws: `StoreError`, `.failed`, where there is none.
    package static func load() throws(StoreError) -> PostgresLibrary { try shared.get() }

    private static let shared = Result { () throws(StoreError) in try PostgresLibrary(named: "libpq.so.5") }

    /// - Parameter name: as dlopen(3) takes it. At most one call in a process may succeed: it fills the one table of functions.
    init(named name: String) throws(StoreError) {
        let hint = "Install PostgreSQL's client library (Debian: apt install libpq5), or use { sqlite: { path: … } }"
        guard let library = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? name
            throw StoreError(
                .failed, context: "PostgreSQL's client library cannot be loaded: \(reason)", hint: hint)
        }
        if let missing = unsafe relay_libpq_bind(library) {
            let function = unsafe String(cString: missing)
            _ = unsafe dlclose(library)
            throw StoreError(
                .failed,
                context: "PostgreSQL's client library \(name) is not one that can be used: it has no \(function)",
                hint: hint)
        }
        version = relay_PQlibVersion()
    }
}
