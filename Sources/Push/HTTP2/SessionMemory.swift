// SPDX-License-Identifier: Apache-2.0
import CNGHTTP2
import Glibc

/// The memory of a lane's nghttp2 sessions: blocks that come back are kept for the next request instead of going to
/// `free`.
///
/// nghttp2 takes a block for each stream, each frame, each request's fields and each field of an answer. With hundreds of
/// streams that is more than malloc keeps at hand for a thread, and the block that came back last is the one that the CPU
/// still has in its cache. Without it a push took six calls of malloc instead of 0.1, and the lane 15% more CPU at 100
/// streams and 10% more at 1,000 (`relay-bench --only transport`, both variants in turns). The memory kept is the most
/// that was in use at a time, below 2 MB for a thousand streams; `trim` gives back the surplus of a burst of connections.
///
/// Belongs to one lane's thread. Must outlive the sessions that were made with it.
@safe
final class SessionMemory {
    /// Free blocks of 64 bytes, 128 and so on: each begins with the address of the next.
    private let free: UnsafeMutablePointer<UnsafeMutableRawPointer?>

    /// One more than the number of sizes that are kept, up to 1,024 bytes; larger blocks are rare (tables, a frame's
    /// buffer) and go to malloc.
    private static let sizes = 17
    private static let shift = 6
    /// The number of blocks of each size that `trim` leaves: a connection with a thousand streams uses fewer.
    static let most = 2048
    /// The number of bytes before each block, which hold its size as an index of `free`; malloc's alignment.
    private static let head = 16

    init() {
        unsafe free = .allocate(capacity: Self.sizes)
        unsafe free.initialize(repeating: nil, count: Self.sizes)
    }

    deinit {
        for size in 0..<Self.sizes {
            while let block = unsafe free[size] {
                unsafe free[size] = unsafe block.load(as: UnsafeMutableRawPointer?.self)
                unsafe Glibc.free(block - Self.head)
            }
        }
        unsafe free.deallocate()
    }

    /// Gives back to malloc the surplus of a burst: of each size all free blocks but `most`. The time grows with their
    /// number, so it is called at the end of a session.
    ///
    /// - Returns: the number of bytes given back.
    func trim() -> Int {
        var given = 0
        for size in 1..<Self.sizes {
            var link = unsafe free + size
            var kept = 0
            while kept < Self.most, let block = unsafe link.pointee {
                unsafe link = block.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
                kept += 1
            }
            var rest = unsafe link.pointee
            unsafe link.pointee = nil
            while let block = unsafe rest {
                unsafe rest = block.load(as: UnsafeMutableRawPointer?.self)
                unsafe Glibc.free(block - Self.head)
                given += Self.head + size << Self.shift
            }
        }
        return given
    }

    /// For `nghttp2_session_client_new3`, which copies it.
    @unsafe
    var callbacks: nghttp2_mem {
        unsafe nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { size, owner in unsafe SessionMemory.with(owner) { unsafe $0.allocate(size) } },
            free: { block, owner in unsafe SessionMemory.with(owner) { unsafe $0.release(block) } },
            calloc: { count, size, owner in
                let (total, overflow) = count.multipliedReportingOverflow(by: size)
                guard !overflow, let block = unsafe SessionMemory.with(owner, { unsafe $0.allocate(total) }) else {
                    return nil
                }
                return unsafe memset(block, 0, total)
            },
            realloc: { block, size, owner in unsafe SessionMemory.with(owner) { unsafe $0.resize(block, to: size) } })
    }

    /// - SAFETY: `callbacks` names its owner, which outlives the sessions.
    @inline(__always)
    private static func with<Result>(_ owner: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> Result) -> Result {
        guard let owner = unsafe owner else { fatalError("nghttp2 gives back the user data that it got") }
        return unsafe Unmanaged<SessionMemory>.fromOpaque(owner)._withUnsafeGuaranteedRef { body($0) }
    }

    @inline(__always)
    private func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
        // Never zero bytes: nil would mean that there is no memory.
        let size = max(count + (1 << Self.shift) - 1, 1 << Self.shift) >> Self.shift
        if size < Self.sizes, let block = unsafe free[size] {
            unsafe free[size] = unsafe block.load(as: UnsafeMutableRawPointer?.self)
            return unsafe block
        }
        guard let start = unsafe malloc(Self.head + size << Self.shift) else { return nil }
        unsafe start.storeBytes(of: size, as: Int.self)
        return unsafe start + Self.head
    }

    @inline(__always)
    private func release(_ block: UnsafeMutableRawPointer?) {
        guard let block = unsafe block else { return }
        let size = unsafe (block - Self.head).load(as: Int.self)
        guard size < Self.sizes else {
            unsafe Glibc.free(block - Self.head)
            return
        }
        unsafe block.storeBytes(of: free[size], as: UnsafeMutableRawPointer?.self)
        unsafe free[size] = unsafe block
    }

    private func resize(_ block: UnsafeMutableRawPointer?, to count: Int) -> UnsafeMutableRawPointer? {
        guard let block = unsafe block else { return unsafe allocate(count) }
        let room = unsafe (block - Self.head).load(as: Int.self) << Self.shift
        if count <= room { return unsafe block }
        guard let larger = unsafe allocate(count) else { return nil }
        unsafe larger.copyMemory(from: block, byteCount: room)
        unsafe release(block)
        return unsafe larger
    }
}
