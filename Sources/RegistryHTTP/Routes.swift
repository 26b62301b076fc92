import HTTPServer

extension RegistryService {
    /// Everything that the registry answers; each line has its page in ``OpenAPI/document``.
    static let routes: [Route] = [
        Route(.get, "/metadata/{file}") { service, call in try service.metadata(call) },
        Route(.get, "/targets/sealift/{document}") { service, call in
            try service.target(call, folder: ["sealift"])
        },
        Route(.get, "/targets/sealift/holds/{namespace}/{document}") { service, call in
            try service.target(call, folder: ["sealift", "holds", call.parameter("namespace")])
        },
        Route(.get, "/targets/{namespace}/{model}/{document}") { service, call in
            try service.target(call, folder: [call.parameter("namespace"), call.parameter("model")])
        },
        Route(.get, "/blobs/sha256/{prefix}/{digest}") { service, call in try service.blob(call) },
        Route(.post, "/api/v1/blobs/have") { service, call in try await service.have(call) },
        Route(.put, "/api/v1/blobs/sha256/{digest}") { service, call in try await service.upload(call) },
        Route(.post, "/api/v1/commit") { service, call in try await service.commit(call) },
        Route(.get, "/api/v1/expectations") { service, call in try service.allExpectations(call) },
        Route(.get, "/api/v1/expectations/{namespace}/{model}") { service, call in
            try service.expectations(call)
        },
        Route(.put, "/api/v1/expectations/{namespace}/{model}/{app}") { service, call in
            try await service.registerExpectation(call)
        },
        Route(.delete, "/api/v1/expectations/{namespace}/{model}/{app}") { service, call in
            try await service.removeExpectation(call)
        },
        Route(.get, "/api/v1/owners") { service, call in try service.owners(call) },
        Route(.get, "/api/v1/openapi.json") { _, call in OpenAPI.response(to: call.request) },
        Route(.get, "/healthz") { _, _ in .text("ok\n") },
        Route(.get, "/readyz") { service, _ in try service.readiness() },
        Route(.get, "/metrics") { service, _ in try service.metricsPage() },
        Route(.get, "/") { service, _ in try service.overviewPage() },
    ]

    /// `get /metadata/{file}` and so on, as an OpenAPI document names operations.
    package static var routeNames: [String] {
        routes.map { "\($0.method.rawValue.lowercased()) \($0.template)" }
    }
}
