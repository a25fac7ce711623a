// SPDX-License-Identifier: Apache-2.0
import Foundation
import Mutation

// make mutants, make mutate: whether the tests find faults that are made on purpose. See Tests/Simulation/README.md.

func fail(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(2)
}

Child.endWithThisProcess()
do {
    let arguments = try MutantArguments(CommandLine.arguments.dropFirst())
    let isAllWell =
        switch arguments.work {
        case .patches: try PatchMeasure(arguments).run()
        case .sample: try SampleMeasure(arguments).run()
        }
    exit(isAllWell ? 0 : 1)
} catch {
    fail("\(error)")
}
