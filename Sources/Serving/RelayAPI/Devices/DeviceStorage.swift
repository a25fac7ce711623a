// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RelayEngine
import RelayStore
import Requirements
import Synchronization

/// Stores one import's devices: while one batch is being stored, the next is filled. Devices are stored in the order in which they
/// came, and at most two batches are held.
///
/// Used by one thread at a time.
final class DeviceStorage {
    /// The most devices of one batch. The store's cost per device falls with their number, as devices share the index pages that they
    /// change: three million into nothing cost 9.1 µs and 2.0 KB each at 50,000, and 7.0 µs and 1.0 KB at this number, which takes 35 MiB
    /// more. A larger page cache gains nothing.
    static let most = 150_000
    /// The most bytes of a batch's texts: a little more than `most` iOS devices have.
    static let mostBytes = 12 << 20
    /// The fewest devices that are handed over before the end of the import: a night's file is met by runs through the registry
    /// (`ImportWalk`), which a small batch has none of.
    static let fewest = 25_000

    /// The queue on which all imports of a server store, one batch at a time: the store has one writer.
    struct Queue: Sendable {
        fileprivate let queue = DispatchQueue(label: "import")
        fileprivate let imports = ImportCount()
    }

    fileprivate final class ImportCount: Sendable {
        let count = Atomic(0)
    }

    /// The outcome of the batches so far, and the batch that is not being filled: being stored, or empty for reuse.
    private struct Outcome {
        var counts = UpsertCounts()
        var failure: (any Error)?
        var other: RegistrationBatch?

        mutating func takeOther() -> RegistrationBatch? {
            defer { other = nil }
            return other
        }
    }

    private let store: any RelayStore
    private let queue: Queue
    private let isDryRun: Bool
    private let now: @Sendable () -> Timestamp
    private let outcome = Arc(Mutex(Outcome()))
    private let done = DispatchSemaphore(value: 0)
    private var isStoring = false
    /// The batch that is being filled.
    var batch: RegistrationBatch

    init(
        of app: AppKey, into store: any RelayStore, _ queue: Queue, isDryRun: Bool,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.queue = queue
        self.isDryRun = isDryRun
        self.now = now
        batch = RegistrationBatch(app: app)
        queue.imports.count.add(1, ordering: .relaxed)
    }

    deinit {
        queue.imports.count.subtract(1, ordering: .relaxed)
    }

    /// The most devices of the batch at this moment: imports that run at the same time share the room of one, down to a thousand each.
    private var most: Int { max(1000, Self.most / max(queue.imports.count.load(ordering: .relaxed), 1)) }

    /// Whether the batch takes no more.
    var isFull: Bool { batch.count >= most || batch.bytes.count >= Self.mostBytes }

    var counts: UpsertCounts { outcome.value.withLock { $0.counts } }
    var failure: (any Error)? { outcome.value.withLock { $0.failure } }

    /// Hands the batch over if it is large enough and this does not have to wait.
    func storeIfIdle() {
        guard batch.count >= min(Self.fewest, most) else { return }
        batch.reserve(devices: most, mostBytes: Self.mostBytes)
        if isStoring {
            guard done.wait(timeout: .now()) == .success else { return }
            isStoring = false
        }
        handOver()
    }

    /// Hands the batch over, once the previous one is stored.
    func storeBatch() {
        settle()
        handOver()
    }

    /// Waits until all that was handed over is stored, or has failed.
    func settle() {
        guard isStoring else { return }
        done.wait()
        isStoring = false
    }

    private func handOver() {
        guard !batch.isEmpty, failure == nil else { return }
        let full = batch
        batch = outcome.value.withLock { $0.takeOther() } ?? RegistrationBatch(app: full.app)
        outcome.value.withLock { $0.other = full }
        isStoring = true
        queue.queue.async { [store, isDryRun, now, outcome, done] in
            // Taken out of the outcome, so that the batch has one owner and keeps its memory when it is emptied.
            guard var full = outcome.value.withLock({ $0.takeOther() }) else { return }
            do {
                try store.register(full, at: now(), isDryRun: isDryRun) { part in
                    outcome.value.withLock { $0.counts += part }
                }
            } catch {
                outcome.value.withLock { $0.failure = error }
            }
            full.removeAll()
            outcome.value.withLock { $0.other = full }
            done.signal()
        }
    }
}

/// A value with several owners: a mutex cannot be copied into a closure.
private final class Arc<Value: ~Copyable & Sendable>: Sendable {
    let value: Value

    init(_ value: consuming Value) {
        self.value = value
    }
}
