import CCurl
import Durable
import Glibc
import Names

/// One libcurl easy handle with its connections.
// Sendable because a handle is used by one thread at a time: `HandlePool` gives
// it to one transfer and takes it back after.
final class CurlHandle: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<CChar>

    init() {
        // Every address was taken apart by libcurl before, so it is there.
        guard CurlLibrary.trouble == nil, let handle = ccurl_easy_init() else {
            preconditionFailure("there is no memory left")
        }
        self.handle = handle
        message = .allocate(capacity: Int(CURL_ERROR_SIZE))
    }

    deinit {
        ccurl_easy_cleanup(handle)
        message.deallocate()
    }

    /// Performs `call` to its end on this thread.
    ///
    /// - Parameters:
    ///   - call: Told the head and the body as they come.
    ///   - configuration: Authorities and credentials.
    /// - Throws: ``FetchError``, unless the call ended itself by `enough` or `stop`.
    func perform(_ call: Call, _ configuration: TransferConfiguration) throws(FetchError) {
        ccurl_easy_reset(handle)
        message.pointee = 0
        setPolicy(call, configuration)
        setCallbacks(call)
        let fields = fields(of: call, configuration)
        defer { ccurl_slist_free_all(fields) }
        ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
        let code = ccurl_easy_perform(handle)
        if code == CURLE_OK { _ = call.judgeHead() }
        try judge(code, call)
    }

    private func setPolicy(_ call: Call, _ configuration: TransferConfiguration) {
        ccurl_set_string(handle, CURLOPT_URL, call.address.url)
        ccurl_set_string(handle, CURLOPT_PROTOCOLS_STR, call.address.scheme)
        // Plain http is for this machine only, so no proxy may carry it elsewhere.
        if call.address.isPlain { ccurl_set_string(handle, CURLOPT_NOPROXY, "*") }
        ccurl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        ccurl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0)
        ccurl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        ccurl_set_long(handle, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        ccurl_set_long(handle, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        ccurl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        ccurl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, Int(configuration.connectSeconds * 1_000))
        // A name server that does not answer must not hold up an abort.
        ccurl_set_long(handle, CURLOPT_QUICK_EXIT, 1)
        ccurl_set_long(handle, CURLOPT_BUFFERSIZE, 512 << 10)
        ccurl_set_long(handle, CURLOPT_UPLOAD_BUFFERSIZE, 512 << 10)
        ccurl_set_string(handle, CURLOPT_USERAGENT, "sealift")
        if let authority = configuration.certificateAuthority {
            ccurl_set_string(handle, CURLOPT_CAINFO, authority)
            ccurl_set_string(handle, CURLOPT_CAPATH, nil)
        }
        if let cap = configuration.rateCap {
            call.rateCap = cap
            ccurl_set_receive_buffer(handle, cap.receiveBuffer)
        }
        if let range = call.range, !range.isEmpty {
            ccurl_set_string(handle, CURLOPT_RANGE, "\(range.lowerBound)-\(range.upperBound - 1)")
        }
    }

    private func setCallbacks(_ call: Call) {
        let context = Unmanaged.passUnretained(call).toOpaque()
        ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, message)
        ccurl_set_write(handle, bodyArrived, context)
        ccurl_set_header(handle, headLineArrived, context)
        ccurl_set_long(handle, CURLOPT_NOPROGRESS, 0)
        ccurl_set_progress(handle, timePassed, context)
        ccurl_set_string(handle, CURLOPT_CUSTOMREQUEST, call.method.rawValue)
        guard let upload = call.upload else { return }
        ccurl_set_long(handle, CURLOPT_UPLOAD, 1)
        ccurl_set_offset(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(clamping: upload.length))
        ccurl_set_read(handle, bodyWanted, context)
        ccurl_set_seek(handle, bodyWantedAgain, context)
    }

    private func fields(
        of call: Call,
        _ configuration: TransferConfiguration
    ) -> UnsafeMutablePointer<curl_slist>? {
        var list: UnsafeMutablePointer<curl_slist>?
        for field in call.fields where AnswerHead.isPlain(field.value) {
            list = ccurl_slist_append(list, "\(field.name): \(field.value)")
        }
        if let credential = configuration.credential, credential.matches(call.address) {
            list = ccurl_slist_append(list, "Authorization: Bearer \(credential.token)")
        }
        return list
    }

    /// Whether a server refused a body before it was all sent, and then hung up.
    private func wasAnsweredEarly(_ code: CURLcode, _ call: Call) -> Bool {
        call.upload != nil && call.head.status >= 400
            && (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR)
    }

    private func judge(_ code: CURLcode, _ call: Call) throws(FetchError) {
        let url = call.address.url
        switch call.ending {
        case .enough, .stop: return
        case .refuse(let refusal): throw .refused(refusal, url: url)
        case .give(let outage): throw .outage(outage, url: url)
        case .goOn, nil: break
        }
        if call.isCancelled { throw .cancelled }
        if let failure = call.upload?.failure {
            throw .storage(.system(operation: "read", path: "the file to send", code: failure))
        }
        guard code != CURLE_OK, !wasAnsweredEarly(code, call) else { return }
        let written = String(cString: message)
        let detail = written.isEmpty ? String(cString: ccurl_easy_strerror(code)) : written
        throw CurlFailure(code: code, words: detail, url: call.address.url).error(call)
    }
}

private func call(_ context: UnsafeMutableRawPointer?) -> Call? {
    context.map { Unmanaged<Call>.fromOpaque($0).takeUnretainedValue() }
}

private func bodyArrived(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let length = size * count
    let isAccepted = call(context)?.takeBody(UnsafeRawBufferPointer(start: bytes, count: length)) ?? false
    return isAccepted ? length : 0
}

private func headLineArrived(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let length = size * count
    let isAccepted = call(context)?.takeHeadLine(UnsafeRawBufferPointer(start: bytes, count: length)) ?? false
    return isAccepted ? length : 0
}

private func bodyWanted(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    let room = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    // 0x10000000 is CURL_READFUNC_ABORT.
    return call(context)?.upload?.read(into: room) ?? 0x1000_0000
}

private func bodyWantedAgain(
    _ context: UnsafeMutableRawPointer?,
    _ offset: curl_off_t,
    _ origin: Int32
) -> Int32 {
    guard origin == SEEK_SET, let upload = call(context)?.upload else { return 1 }
    return upload.seek(to: Int64(offset)) ? 0 : 1
}

private func timePassed(
    _ context: UnsafeMutableRawPointer?,
    _ downloadTotal: curl_off_t,
    _ downloaded: curl_off_t,
    _ uploadTotal: curl_off_t,
    _ uploaded: curl_off_t
) -> Int32 {
    let moved = UInt64(max(0, downloaded)) &+ UInt64(max(0, uploaded))
    return call(context)?.keepsPace(bytesMoved: moved) == true ? 0 : 1
}
