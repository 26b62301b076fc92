import HTTPServer
import Names
import Registry
import RegistryAPI

/// What the registry's operator looks at.
extension RegistryService {
    /// Whether devices and publishers can be served now; `/healthz` says only that the process answers.
    func readiness() throws -> HTTPResponse {
        do {
            try registry.checkReadiness(now: now())
        } catch {
            throw error.isOutage ? error : RegistryError.storage(reason: "\(error)")
        }
        return .text("ready\n")
    }

    func metricsPage() throws -> HTTPResponse {
        let counts = try registry.store.counts()
        var text = metrics.text
        let gauges: [(name: String, value: Int64)] = [
            ("models", counts.models), ("versions", counts.versions), ("blobs", counts.blobs),
            ("blob_bytes", counts.blobBytes), ("log_entries", counts.logEntries),
            ("committed_snapshot", counts.committed), ("published_snapshot", counts.published),
        ]
        for gauge in gauges {
            text += "# TYPE sealift_\(gauge.name) gauge\nsealift_\(gauge.name) \(gauge.value)\n"
        }
        text += "# TYPE sealift_role_remaining_seconds gauge\n"
        let now = now()
        for life in try registry.lives() {
            text +=
                "sealift_role_remaining_seconds{role=\"\(life.role)\"} \(life.expires.seconds(since: now))\n"
        }
        return HTTPResponse(
            status: 200,
            fields: [
                "Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store",
            ],
            body: .bytes(Array(text.utf8))
        )
    }
}
