// SPDX-License-Identifier: Apache-2.0
import Glibc
import Threading

/// Checks files that the configuration names, and describes faults in an operator's words.
package enum FileProbe {
    package struct Failure: Error, CustomStringConvertible {
        /// Completes "file X …": "does not exist".
        package var problem: String
        package var hint: String?

        package var description: String { hint.map { "\(problem); \($0)" } ?? problem }
    }

    /// The whole file, if it is a regular one of at most `limit` bytes.
    package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
        do throws(WholeFile.Problem) {
            return try WholeFile.read(path, limit: limit)
        } catch {
            switch error {
            case .system(let number): throw failure(number)
            case .notRegular: throw Failure(problem: "is not a regular file")
            case .tooLarge(let size): throw Failure(problem: "has \(size) bytes; at most \(limit) make sense here")
            }
        }
    }

    /// The mode of a file that all users of the system may read; nil where the file's mode or a folder above it prevents that.
    static func modeForAll(_ path: String) -> mode_t? {
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IROTH != 0 else { return nil }
        let mode = status.st_mode & 0o777
        var folder = path
        repeat {
            folder = directory(of: folder)
            guard unsafe stat(folder, &status) == 0, status.st_mode & S_IXOTH != 0 else { return nil }
        } while folder != "/" && folder != "."
        return mode
    }

    /// Whether the path exists; true also where this process may not look.
    package static func exists(_ path: String) -> Bool {
        guard unsafe access(path, F_OK) != 0 else { return true }
        return errno != ENOENT && errno != ENOTDIR
    }

    package static func directory(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "." }
        return slash == file.startIndex ? "/" : String(file[..<slash])
    }

    /// nil where the process may create and write files in the directory, or may make the directory in its parent.
    package static func directoryFault(_ path: String) -> Failure? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            let fault = failure(errno)
            guard errno == ENOENT else { return fault }
            let above = directory(of: path)
            guard unsafe stat(above, &status) == 0 else { return fault }
            guard unsafe access(above, W_OK | X_OK) == 0 else {
                return Failure(
                    problem: "does not exist, and \(above) is not writable for \(user)",
                    hint: "make it for the user that the relay runs as")
            }
            return nil
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { return Failure(problem: "is not a directory") }
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            guard errno != EROFS else { return Failure(problem: "is on a read-only file system") }
            return Failure(problem: "is not writable for \(user)", hint: "chown or chmod it, or choose another place")
        }
        return nil
    }

    private static func failure(_ number: CInt) -> Failure {
        switch number {
        case ENOENT, ENOTDIR: Failure(problem: "does not exist")
        case EACCES, EPERM: Failure(problem: "is not readable for \(user)", hint: "chown or chmod it")
        default: Failure(problem: "cannot be read: \(unsafe String(cString: strerror(number)))")
        }
    }

    private static var user: String { "user id \(geteuid())" }
}
