#pragma once
#include <curl/curl.h>
#include <stdint.h>

// libcurl, opened when it is first needed: with what it brings along it would be half of the start, and 4 MB of the
// memory, of a program that reads a file and makes no request.
//
// Opens it once. Returns NULL, or why it cannot be used, which stays as it is. Nothing below may be called before.
const char *ccurl_open(void);

CURL *ccurl_easy_init(void);
void ccurl_easy_cleanup(CURL *handle);
void ccurl_easy_reset(CURL *handle);
CURLcode ccurl_easy_perform(CURL *handle);
const char *ccurl_easy_strerror(CURLcode code);

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text);
void ccurl_slist_free_all(struct curl_slist *list);

CURLU *ccurl_url(void);
void ccurl_url_cleanup(CURLU *url);
CURLUcode ccurl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags);
void ccurl_free(void *text);

// curl_easy_setopt is variadic: one typed function for each kind of value.
typedef size_t (*ccurl_write)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_progress)(void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
typedef int (*ccurl_seek)(void *context, curl_off_t offset, int origin);

CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value);
CURLcode ccurl_set_offset(CURL *handle, CURLoption option, curl_off_t value);
CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value);
CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value);
CURLcode ccurl_set_write(CURL *handle, ccurl_write function, void *context);
CURLcode ccurl_set_read(CURL *handle, ccurl_write function, void *context);
CURLcode ccurl_set_seek(CURL *handle, ccurl_seek function, void *context);
CURLcode ccurl_set_header(CURL *handle, ccurl_write function, void *context);
CURLcode ccurl_set_progress(CURL *handle, ccurl_progress function, void *context);

// The system's own memory for what has come and was not read yet, of each new connection.
CURLcode ccurl_set_receive_buffer(CURL *handle, int size);
