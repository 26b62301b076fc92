/// Gets and sends over libcurl, off Swift's own threads.
package final class CurlFetcher: Fetching, APIExchanging {
    let configuration: TransferConfiguration

    package init(configuration: TransferConfiguration = TransferConfiguration()) {
        self.configuration = configuration
    }

    package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        throw .outage(.other(detail: "not there yet"), url: request.url)
    }

    package func send(_ request: APIRequest) async throws(FetchError) -> APIResponse {
        throw .outage(.other(detail: "not there yet"), url: request.url)
    }
}
