import CanonicalJSON
import HTTPServer
import Manifest
import Names
import Registry
import RegistryAPI

/// What apps need of models: advice that is kept by token, never a signature.
extension RegistryService {
    func allExpectations(_ call: Call) throws -> HTTPResponse {
        _ = try token(of: call.request)
        return try list(nil)
    }

    func expectations(_ call: Call) throws -> HTTPResponse {
        _ = try token(of: call.request)
        return try list(try model(of: call))
    }

    func registerExpectation(_ call: Call) async throws -> HTTPResponse {
        let token = try token(of: call.request)
        let model = try model(of: call)
        let bytes = try await call.body.collect(upTo: Limits.manifest)
        let expectation: Expectation
        do { expectation = try Expectation(bytes: bytes) } catch { throw Refusal(.malformed, "\(error)") }
        try await registry.register(expectation, of: try app(of: call), for: model, by: token, now: now())
        return try list(model)
    }

    func removeExpectation(_ call: Call) async throws -> HTTPResponse {
        let token = try token(of: call.request)
        let (model, app) = (try model(of: call), try app(of: call))
        guard try await registry.removeExpectation(of: app, for: model, by: token, now: now()) else {
            throw Refusal(.notFound, "No expectation of \(app) is registered for \(model).")
        }
        return try list(model)
    }

    private func list(_ model: ModelName?) throws -> HTTPResponse {
        let entries = try registry.expectations(of: model).compactMap { registered -> ExpectationEntry? in
            let length = Int(Limits.manifest.rawValue)
            guard let document = try? JSONParser.parse(registered.document, maximumLength: length) else {
                return nil
            }
            return ExpectationEntry(
                app: registered.app,
                model: registered.model,
                document: document,
                registeredBy: registered.registeredBy,
                registeredAt: registered.registeredAt
            )
        }
        return answer(ExpectationList(expectations: entries), status: 200)
    }

    private func model(of call: Call) throws -> ModelName {
        let text = "\(call.parameter("namespace"))/\(call.parameter("model"))"
        guard let model = ModelName(text) else { throw Refusal(.notFound, "\(text) is no name of a model.") }
        return model
    }

    private func app(of call: Call) throws -> AppName {
        guard let app = AppName(call.parameter("app")) else {
            throw Refusal(.malformed, "An app's name is 1 to 128 of A-Z a-z 0-9 . _ - @.")
        }
        return app
    }
}
