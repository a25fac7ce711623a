// SPDX-License-Identifier: Apache-2.0
import CLinux

/// The C library's heap.
enum Heap {
    /// Lets all threads share two arenas. To be called before they are started.
    ///
    /// glibc makes an arena for each thread, up to eight for each core (mallopt(3), M_ARENA_MAX), and what is free in one is of
    /// no use to the others: under `make soak` 28 threads held 61 to 69 MiB, of which 13 were in use; with two arenas it is 32
    /// to 36. A push allocates next to nothing, so nobody waits for a lock here.
    static func shareArenas() {
        _ = mallopt(M_ARENA_MAX, 2)
    }
}
