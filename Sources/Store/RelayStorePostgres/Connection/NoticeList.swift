// SPDX-License-Identifier: Apache-2.0
import CPostgres
import Synchronization

/// The server's warnings to one session: the last few.
final class NoticeList: Sendable {
    private static let most = 16
    private let texts = Mutex<[String]>([])

    /// Collects a connection's notices from now on; libpq would print them on standard error, unfiltered. The
    /// connection does not retain this list: it must live as long as the connection.
    @safe func listen(to handle: OpaquePointer) {
        _ = unsafe relay_PQsetNoticeReceiver(
            handle,
            { list, notice in
                guard let list = unsafe list, let notice = unsafe notice else { return }
                let field = unsafe relay_PQresultErrorField(notice, Int32(PG_DIAG_MESSAGE_PRIMARY))
                guard let text = unsafe field.map({ unsafe String(cString: $0) }) else { return }
                unsafe Unmanaged<NoticeList>.fromOpaque(list).takeUnretainedValue().add(ServerText.line(text))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func add(_ text: String) {
        texts.withLock { texts in
            if texts.count == Self.most { texts.removeFirst() }
            texts.append(text)
        }
    }

    func take() -> [String] {
        texts.withLock { texts in
            defer { texts = [] }
            return texts
        }
    }
}
