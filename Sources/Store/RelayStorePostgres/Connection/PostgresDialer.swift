// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Glibc
import RelayEngine
import Threading

/// Makes sessions: connects, and applies a role's settings.
///
/// Each server of the conninfo is tried in turn, with a timeout of its own: PQconnectPoll, given all servers, would
/// spend the caller's whole time on the first one. A name is looked up by getaddrinfo(3), which has no deadline but
/// resolv.conf's.
struct PostgresDialer: Sendable {
    let conninfo: Conninfo
    let schema: String
    /// Without one, libpq looks in its own places (PGPASSWORD, .pgpass).
    let password: [UInt8]?

    func dial(_ role: PostgresRole, until deadline: MonotonicTime) throws(PostgresFailure) -> PostgresConnection {
        var failures: [PostgresFailure] = []
        for server in conninfo.servers {
            let now = MonotonicClock.now()
            guard now < deadline || failures.isEmpty else { break }
            do throws(PostgresFailure) {
                let connection = try connect(to: server, until: min(deadline, now + conninfo.timeout))
                try connection.execute(
                    role.settings(schema: schema), until: max(deadline, MonotonicClock.now() + .seconds(1)))
                return connection
            } catch {
                failures.append(error)
            }
        }
        // An error that a server reported matters more than that another server is a standby, or unreachable.
        var failure =
            failures.first { $0.state != nil } ?? failures.first ?? PostgresFailure(.lost, "no server is named")
        if failures.count > 1 { failure.message = failures.map(\.message).joined(separator: "; ") }
        failure.isOutcomeUnknown = false
        throw failure
    }

    private func connect(
        to server: [Conninfo.Option], until deadline: MonotonicTime
    ) throws(PostgresFailure) -> PostgresConnection {
        guard let handle = unsafe start(server) else { throw PostgresFailure(.lost, "libpq has no memory left") }
        let noticed = NoticeList()
        var isKept = false
        defer { withExtendedLifetime(noticed) { if !isKept { unsafe relay_PQfinish(handle) } } }
        // Must come before anything from the server is read.
        noticed.listen(to: handle)
        // With this, libpq's error messages contain the SQLSTATE.
        _ = unsafe relay_PQsetErrorVerbosity(handle, Int32(PQERRORS_VERBOSE))
        // "until PQconnectPoll has been called, behave as if it last returned PGRES_POLLING_WRITING" (PQconnectStart's page)
        var state = PGRES_POLLING_WRITING
        while state != PGRES_POLLING_OK {
            // A conninfo that is wrong in itself fails before there is a socket.
            let descriptor = unsafe relay_PQsocket(handle)
            guard state != PGRES_POLLING_FAILED, descriptor >= 0 else {
                throw PostgresFailure(ofConnection: handle)
            }
            let rest = deadline - MonotonicClock.now()
            let events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT
            var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            guard rest > .zero,
                unsafe poll(&request, 1, Int32(clamping: (rest + .nanoseconds(999_999)).milliseconds)) != 0
            else {
                let name = server.map(\.value).joined(separator: " port ")
                throw PostgresFailure(.lost, "connection to server \(name) failed: it does not answer")
            }
            state = unsafe Int(relay_PQconnectPoll(handle))
        }
        guard unsafe relay_PQsetnonblocking(handle, 1) == 0 else {
            throw PostgresFailure(ofConnection: handle)
        }
        isKept = true
        return unsafe PostgresConnection(handle, noticed)
    }

    private func start(_ server: [Conninfo.Option]) -> OpaquePointer? {
        let options = conninfo.options + server
        let keywords = options.map(\.keyword) + (password == nil ? [] : ["password"])
        let values = options.map { Array($0.value.utf8) } + (password.map { [$0] } ?? [])
        let names = unsafe keywords.map { unsafe strdup($0) }
        // A password need not be valid UTF-8.
        let texts = unsafe values.map { value in unsafe strdup(value.map { CChar(bitPattern: $0) } + [0]) }
        defer {
            unsafe (names + texts).forEach { unsafe free($0) }
        }
        let ended = unsafe (
            names.map { unsafe UnsafePointer($0) } + [nil], texts.map { unsafe UnsafePointer($0) } + [nil]
        )
        // 0: a dbname is a name, not another conninfo.
        return unsafe relay_PQconnectStartParams(ended.0, ended.1, 0)
    }
}
