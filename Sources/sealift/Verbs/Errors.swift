import Arguments
import CanonicalJSON
import Names

/// Explains the codes of errors.
struct Errors: Command {
    static let spec = CommandSpec(
        name: "errors",
        summary: "Explain the code of an error, or all of them",
        positions: [.optional("CODE")],
        options: [SharedOption.json],
        example: "sealift errors certificate",
        discussion:
            "With --json every error of every command carries its code, which never changes its meaning."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        guard let name = arguments.position(0) else {
            guard arguments.has("json") else {
                Output.result(page: ErrorCode.table)
                return .done
            }
            Output.result(bytes: JSONReport(["errors": .array(ErrorCode.allCases.map(\.value))]).bytes)
            return .done
        }
        guard let code = ErrorCode(rawValue: name) else {
            throw UsageError.refused("there is no error ‘\(name)’; ‘sealift errors’ lists them")
        }
        if arguments.has("json") {
            Output.result(bytes: code.value.compactJSON)
        } else {
            Output.result("\(code.rawValue) (exit code \(code.exitCode))")
            Output.result("  cause:  \(code.cause)")
            Output.result("  remedy: \(code.remedy)")
        }
        return .done
    }
}

extension ErrorCode {
    fileprivate var value: JSONValue {
        .members([
            "cause": .text(cause), "code": .text(rawValue), "exit_code": .integer(Int64(exitCode)),
            "remedy": .text(remedy),
        ])
    }
}
