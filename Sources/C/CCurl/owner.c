#include "CCurl.h"

#include <pthread.h>

static int place = -1;

static void reserve(void) { place = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

int reach_tls_set_owner(SSL_CTX *context, void *owner)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, reserve);
    return place < 0 ? 0 : SSL_CTX_set_ex_data(context, place, owner);
}

void *reach_tls_owner(const SSL *connection)
{
    return place < 0 ? NULL : SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), place);
}
