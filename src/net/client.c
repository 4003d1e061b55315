/* SPDX-License-Identifier: Apache-2.0 */
#include "net/client.h"

#include "base/thread.h"

/* So that two large ones at once do not fill the machine; 4 GB are two million changed paths. */
static size_t commit_memory(void)
{
    const size_t most = (size_t)4 << 30, quarter = memory_size() / 4;
    return quarter < most ? quarter : most;
}

void client_limits_init(struct client_limits *limits)
{
    *limits = (struct client_limits){
        .request_bytes = 16 << 20,
        .login_bytes = 64 << 10,
        .request_memory = 256 << 20,
        .commit_memory = commit_memory(),
        .open_texts = 64,
        .nesting = 64,
        .login_attempts = 32,
        .login_timeout_s = 120, /* somebody may have to type a password */
        .idle_timeout_s = 3600,
    };
}

bool client_begin_waiting(const struct client *client)
{
    struct client_state *state = client->state;
    if (!state)
        return true;
    atomic_store(&state->phase, CLIENT_WAITING);
    return !state->stopping || !atomic_load(state->stopping);
}

bool client_end_waiting(const struct client *client)
{
    enum client_phase waiting = CLIENT_WAITING;
    return !client->state ||
           atomic_compare_exchange_strong(&client->state->phase, &waiting, CLIENT_BUSY);
}

bool client_is_ended(const struct client *client)
{
    return client->state && atomic_load(&client->state->phase) == CLIENT_ENDED;
}
