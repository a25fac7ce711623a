// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// A copy of the checkout that has mutants in it, each behind its switch. The checkout itself has none, and its build stays as it is.
package struct ScratchCopy {
    /// The purpose of a build.
    package enum Product: String, Sendable {
        /// `simulate`, optimised.
        case simulation
        /// All tests, as `make test` builds them.
        case tests

        var words: [String] {
            switch self {
            case .simulation: ["-c", "release", "--product", "simulate"]
            case .tests: ["--build-tests"]
            }
        }
    }

    /// Folders of a checkout that are no sources.
    private static let left: Set = [".build", ".git", ".swiftpm"]

    private let root: URL
    package let folder: URL
    private let swift: String
    /// By file: what stands there with all mutants that are in it.
    private var sources: [String: Schemata] = [:]
    package private(set) var mutants: [Mutant]

    /// - Parameters:
    ///   - root: the checkout.
    ///   - folder: made where it is not there. A build that is in it is gone on with.
    package init(of root: URL, in folder: URL, swift: String, mutants: [Mutant]) {
        (self.root, self.folder, self.swift, self.mutants) = (root, folder, swift, mutants)
    }

    package static func text(_ file: String, in root: URL) throws -> String {
        try String(contentsOf: root.appending(path: file), encoding: .utf8)
    }

    /// All sources with all mutants, as texts.
    ///
    /// - Throws: where one does not fit.
    package static func schemata(_ mutants: [Mutant], read: (String) throws -> String) throws -> [String: Schemata] {
        var sources: [String: Schemata] = [:]
        for file in Set(mutants.flatMap(\.edits.keys)) {
            guard file.hasSuffix(".swift") else {
                throw MutationError("\(file) is no Swift source: no switch can stand in it")
            }
            let edits = mutants.compactMap { mutant in mutant.edits[file].map { (mutant.number, $0) } }
            sources[file] = try Schemata(read(file), edits, file: file)
        }
        return sources
    }

    // MARK: Writing

    /// Makes the copy what the checkout is now, with the mutants. What is the same is not touched, so that it is not compiled again.
    package mutating func write() throws {
        let root = root
        sources = try Self.schemata(mutants) { try Self.text($0, in: root) }
        var there = Set(try Self.files(of: folder))
        for file in try Self.files(of: root) {
            there.remove(file)
            guard sources[file] == nil, file != "Package.swift" else { continue }
            try put(Data(contentsOf: root.appending(path: file)), file, isExecutable: Self.isExecutable(root, file))
        }
        for (file, source) in sources { try put(Data(source.text.utf8), file) }
        for (file, text) in [
            ("Package.swift", try manifest()), ("Sources/\(Schemata.module)/include/mutant.h", Self.header),
            ("Sources/\(Schemata.module)/mutant.c", Self.implementation),
        ] {
            there.remove(file)
            try put(Data(text.utf8), file)
        }
        for file in there { try FileManager.default.removeItem(at: folder.appending(path: file)) }
    }

    private static func files(of folder: URL) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !left.contains($0) }.flatMap {
            name in
            var isFolder: ObjCBool = false
            let path = folder.appending(path: name).path
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                return [name]
            }
            return try FileManager.default.subpathsOfDirectory(atPath: path).map { "\(name)/\($0)" }.filter {
                FileManager.default.fileExists(atPath: folder.appending(path: $0).path, isDirectory: &isFolder)
                    && !isFolder.boolValue
            }
        }
    }

    private static func isExecutable(_ root: URL, _ file: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: root.appending(path: file).path)
    }

    private func put(_ data: Data, _ file: String, isExecutable: Bool = false) throws {
        let place = folder.appending(path: file)
        if let old = try? Data(contentsOf: place), old == data { return }
        try FileManager.default.createDirectory(
            at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: place)
        if isExecutable { try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: place.path) }
    }

    /// Every target may ask the switch. A warning stops nothing here: a mutant may leave a variable that nothing reads.
    private func manifest() throws -> String {
        try Self.text("Package.swift", in: root).replacing("    .treatAllWarnings(as: .error),\n", with: "") + """

            package.targets.append(.target(name: "\(Schemata.module)"))
            for target in package.targets where [.regular, .executable, .test].contains(target.type) && target.name != "\(Schemata.module)" {
                target.dependencies.append("\(Schemata.module)")
            }

            """
    }

    private static let header = """
        #include <stdbool.h>
        extern int mutantNumber;
        static inline bool mutantIsOn(int number) { return mutantNumber == number; }

        """

    private static let implementation = """
        #include "mutant.h"
        #include <stdlib.h>
        int mutantNumber;
        __attribute__((constructor)) static void readMutant(void) {
            const char *number = getenv("MUTANT");
            mutantNumber = number ? atoi(number) : 0;
        }

        """

    // MARK: Building

    /// Builds what `product` names. Mutants that do not compile are taken out, and it begins again.
    ///
    /// - Parameters:
    ///   - limit: seconds for each build.
    ///   - drop: is called with each that is taken out, at once, and with the compiler's words.
    package mutating func build(_ product: Product, limit: Int, drop: (Mutant, String) throws -> Void) throws {
        while true {
            try write()
            let child = try Child.run(
                [swift, "build"] + product.words, in: folder, limit: limit,
                log: folder.deletingLastPathComponent().appending(path: "build-\(product.rawValue).log"))
            if child.end == .exited(0) { return }
            if child.end == .tookTooLong {
                throw MutationError(
                    "the build of \(product.rawValue) took longer than \(limit) s: run it again, it goes on")
            }
            let faults = faults(in: child.output)
            guard !faults.isEmpty else {
                throw MutationError("the copy in \(folder.path) does not build:\n\(child.output.suffix(4000))")
            }
            for mutant in mutants {
                if let fault = faults[mutant.number] { try drop(mutant, fault) }
            }
            mutants.removeAll { faults[$0.number] != nil }
        }
    }

    /// By mutant: the compiler's first error in its lines.
    private func faults(in output: String) -> [Int: String] {
        var faults: [Int: String] = [:]
        for match in output.matches(of: /(?m)^([^\n:]+):(\d+):\d+: error: (.*)$/) {
            guard let line = Int(match.output.2) else { continue }
            let path = String(match.output.1)
            guard let (_, source) = sources.first(where: { path.hasSuffix("/" + $0.key) }) else { continue }
            for number in source.mutants(onLine: line) { faults[number] = faults[number] ?? String(match.output.3) }
        }
        return faults
    }

    // MARK: Running

    package func binary(_ product: Product) -> URL {
        switch product {
        case .simulation: folder.appending(path: ".build/release/simulate")
        case .tests: folder.appending(path: ".build/debug/upgrade-relayPackageTests.xctest")
        }
    }

    /// A number for all that decides what a run of a mutant comes to, but for the mutant.
    ///
    /// - Parameter deciding: files, and folders with all that they hold. One that is not there is an error.
    package static func fingerprint(_ deciding: [String], of root: URL) throws -> UInt64 {
        var hash = Fingerprint()
        let files = try files(of: root)
        for place in deciding where !files.contains(where: { $0 == place || $0.hasPrefix(place + "/") }) {
            throw MutationError("\(place), which decides how a mutant goes, is not there")
        }
        for file in files.sorted() where deciding.contains(where: { file == $0 || file.hasPrefix($0 + "/") }) {
            hash.add(Data(file.utf8))
            hash.add(try Data(contentsOf: root.appending(path: file)))
        }
        return hash.value
    }
}

/// FNV-1a of 64 bits: the same in each process.
package struct Fingerprint {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func add(_ data: Data) {
        for byte in data { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        value = (value ^ 0xFF) &* 0x100_0000_01B3
    }
}
