import Blocking

/// What has been counted since the start, in the text format of Prometheus (exposition format 0.0.4).
final class Metrics: Sendable {
    private struct Answer: Hashable {
        let route: String
        let status: Int
    }

    private struct Counts {
        var answers: [Answer: Int] = [:]
        var receivedBytes = 0
    }

    private let counts = Guarded(Counts())

    func count(route: String, status: Int) {
        counts.withLock { $0.answers[Answer(route: route, status: status), default: 0] += 1 }
    }

    func countReceived(_ bytes: Int) { counts.withLock { $0.receivedBytes += bytes } }

    var text: String {
        let (answers, receivedBytes) = counts.withLock { ($0.answers, $0.receivedBytes) }
        var text = "# TYPE sealift_http_requests_total counter\n"
        let sorted = answers.sorted { ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status) }
        for (answer, count) in sorted {
            text +=
                "sealift_http_requests_total{route=\"\(answer.route)\",status=\"\(answer.status)\"} \(count)\n"
        }
        text += "# TYPE sealift_blob_received_bytes_total counter\n"
        text += "sealift_blob_received_bytes_total \(receivedBytes)\n"
        return text
    }
}
