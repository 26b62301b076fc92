#include "ccurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

#ifdef __APPLE__
#define LIBRARY "libcurl.4.dylib"
#else
#define LIBRARY "libcurl.so.4"
#endif

// Every function that is used, by the type that its header gives it.
#define FUNCTIONS(each)                                                                                             \
    each(global_init) each(easy_init) each(easy_cleanup) each(easy_reset) each(easy_perform) each(easy_strerror)    \
    each(easy_setopt) each(slist_append) each(slist_free_all) each(url) each(url_cleanup) each(url_set)             \
    each(url_get) each(free)

// The header guards the variadic function by a macro of its name.
#undef curl_easy_setopt

#define MEMBER(name) __typeof__(&curl_##name) name;
static struct { FUNCTIONS(MEMBER) } curl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char trouble[512];

static int find(void *library, const char *name, void *place) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        snprintf(trouble, sizeof trouble, "%s has no %s", LIBRARY, name);
        return 0;
    }
    *(void **)place = symbol;
    return 1;
}

static void open_library(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(trouble, sizeof trouble, "%s", reason ? reason : LIBRARY " does not open");
        return;
    }
#define FIND(name)                                                                                                  \
    if (!find(library, "curl_" #name, &curl.name)) return;
    FUNCTIONS(FIND)
    if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        snprintf(trouble, sizeof trouble, "%s does not start", LIBRARY);
    }
}

const char *ccurl_open(void) {
    pthread_once(&once, open_library);
    return trouble[0] ? trouble : NULL;
}

CURL *ccurl_easy_init(void) { return curl.easy_init(); }
void ccurl_easy_cleanup(CURL *handle) { curl.easy_cleanup(handle); }
void ccurl_easy_reset(CURL *handle) { curl.easy_reset(handle); }
CURLcode ccurl_easy_perform(CURL *handle) { return curl.easy_perform(handle); }
const char *ccurl_easy_strerror(CURLcode code) { return curl.easy_strerror(code); }

struct curl_slist *ccurl_slist_append(struct curl_slist *list, const char *text) {
    return curl.slist_append(list, text);
}
void ccurl_slist_free_all(struct curl_slist *list) { curl.slist_free_all(list); }

CURLU *ccurl_url(void) { return curl.url(); }
void ccurl_url_cleanup(CURLU *url) { curl.url_cleanup(url); }
CURLUcode ccurl_url_set(CURLU *url, CURLUPart part, const char *text, unsigned int flags) {
    return curl.url_set(url, part, text, flags);
}
CURLUcode ccurl_url_get(CURLU *url, CURLUPart part, char **text, unsigned int flags) {
    return curl.url_get(url, part, text, flags);
}
void ccurl_free(void *text) { curl.free(text); }

CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl.easy_setopt(handle, option, value);
}
CURLcode ccurl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl.easy_setopt(handle, option, value);
}
CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl.easy_setopt(handle, option, value);
}
CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl.easy_setopt(handle, option, value);
}
CURLcode ccurl_set_write(CURL *handle, ccurl_write function, void *context) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
    return code ? code : curl.easy_setopt(handle, CURLOPT_WRITEDATA, context);
}
CURLcode ccurl_set_read(CURL *handle, ccurl_write function, void *context) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_READFUNCTION, function);
    return code ? code : curl.easy_setopt(handle, CURLOPT_READDATA, context);
}
CURLcode ccurl_set_seek(CURL *handle, ccurl_seek function, void *context) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
    return code ? code : curl.easy_setopt(handle, CURLOPT_SEEKDATA, context);
}
CURLcode ccurl_set_header(CURL *handle, ccurl_write function, void *context) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_HEADERFUNCTION, function);
    return code ? code : curl.easy_setopt(handle, CURLOPT_HEADERDATA, context);
}
CURLcode ccurl_set_progress(CURL *handle, ccurl_progress function, void *context) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
    return code ? code : curl.easy_setopt(handle, CURLOPT_XFERINFODATA, context);
}

static int socket_made(void *size, curl_socket_t socket, curlsocktype purpose) {
    (void)purpose;
    int bytes = (int)(intptr_t)size;
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    return CURL_SOCKOPT_OK;
}

CURLcode ccurl_set_receive_buffer(CURL *handle, int size) {
    CURLcode code = curl.easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, socket_made);
    return code ? code : curl.easy_setopt(handle, CURLOPT_SOCKOPTDATA, (void *)(intptr_t)size);
}
