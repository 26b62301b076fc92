#pragma once
#include <curl/curl.h>
#include <stdint.h>
#include <sys/socket.h>

// curl_easy_setopt and curl_easy_getinfo are variadic: one typed function for each kind of value.
typedef size_t (*ccurl_write)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_progress)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_write(CURL *handle, ccurl_write function, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
    return code ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}
static inline CURLcode ccurl_set_read(CURL *handle, ccurl_write function, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, function);
    return code ? code : curl_easy_setopt(handle, CURLOPT_READDATA, context);
}
typedef int (*ccurl_seek)(void *context, curl_off_t offset, int origin);
static inline CURLcode ccurl_set_seek(CURL *handle, ccurl_seek function, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
    return code ? code : curl_easy_setopt(handle, CURLOPT_SEEKDATA, context);
}
static inline CURLcode ccurl_set_header(CURL *handle, ccurl_write function, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, function);
    return code ? code : curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
}
static inline CURLcode ccurl_set_progress(CURL *handle, ccurl_progress function, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
    return code ? code : curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
}
// The system's own memory for what has come and was not read yet, of each new connection.
static inline int ccurl_socket_made(void *size, curl_socket_t socket, curlsocktype purpose) {
    int bytes = (int)(intptr_t)size;
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    return CURL_SOCKOPT_OK;
}
static inline CURLcode ccurl_set_receive_buffer(CURL *handle, int size) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, ccurl_socket_made);
    return code ? code : curl_easy_setopt(handle, CURLOPT_SOCKOPTDATA, (void *)(intptr_t)size);
}
static inline CURLcode ccurl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode ccurl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}
