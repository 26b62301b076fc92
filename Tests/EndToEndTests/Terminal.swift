import Durable
import Support

/// Runs lines of shell in a world's scratch folder, as a person would who has the program on the `PATH`.
struct Terminal {
    let world: World

    init() throws {
        world = try World()
        try Durable.makeDirectory(world.scratch.path("bin"))
        try Durable.replaceLink(world.scratch.path("bin/sealift"), destination: world.program)
    }

    /// Starts one line; `folder` is its working directory and home.
    func start(_ line: String, in folder: String = ".", _ more: [String: String] = [:]) throws -> Child {
        let place = world.scratch.path(folder)
        let path = Peers.variable("PATH") ?? "/usr/bin:/bin"
        var variables = ["HOME": place, "PATH": "\(world.scratch.path)/bin:\(path)"]
        variables.merge(more) { $1 }
        return try Child(
            "/bin/bash",
            ["-c", "cd '\(place)' && exec \(line)"],
            environment: variables,
            folder: world.scratch.path
        )
    }

    /// Runs one line to its end, and expects that it succeeds.
    @discardableResult
    func run(_ line: String, in folder: String = ".", _ more: [String: String] = [:]) throws -> Outcome {
        let outcome = try start(line, in: folder, more).finished(within: 60)
        guard outcome.code == 0 else { throw Trouble("\(line)\n\(outcome)") }
        return outcome
    }
}
