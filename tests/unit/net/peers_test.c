/* SPDX-License-Identifier: Apache-2.0 */
#include "../testing.h"
#include "net/peers.h"
#include <stdio.h>
#include <unistd.h>

static struct peers *peers_with(struct peers_limits limits)
{
    return peers_new(&limits);
}

static void addresses_have_their_number_of_connections(void **state)
{
    struct peers *peers = peers_with((struct peers_limits){.connections_per_address = 2});
    assert_ok(peers_enter(peers, "192.0.2.1"));
    assert_ok(peers_enter(peers, "192.0.2.1"));
    assert_err(peers_enter(peers, "192.0.2.1"), E_RA_CANNOT_CREATE_SESSION, NULL);
    assert_ok(peers_enter(peers, "192.0.2.2"));
    peers_leave(peers, "192.0.2.1");
    assert_ok(peers_enter(peers, "192.0.2.1"));
    peers_free(peers);
}

static void all_have_a_number_of_connections(void **state)
{
    struct peers *peers = peers_with((struct peers_limits){.connections = 2});
    assert_ok(peers_enter(peers, "192.0.2.1"));
    assert_ok(peers_enter(peers, "192.0.2.2"));
    assert_err(peers_enter(peers, "192.0.2.3"), E_RA_CANNOT_CREATE_SESSION, NULL);
    peers_leave(peers, "192.0.2.1");
    assert_ok(peers_enter(peers, "192.0.2.3"));
    peers_free(peers);
}

static void of_an_ipv6_address_the_first_half_counts(void **state)
{
    struct peers *peers = peers_with((struct peers_limits){.connections_per_address = 1});
    assert_ok(peers_enter(peers, "2001:db8:0:1::1"));
    assert_err(peers_enter(peers, "2001:db8:0:1:ffff::2"), E_RA_CANNOT_CREATE_SESSION, NULL);
    assert_ok(peers_enter(peers, "2001:db8:0:2::1"));
    peers_leave(peers, "2001:db8:0:1::1");
    assert_ok(peers_enter(peers, "2001:db8:0:1:ffff::2"));
    peers_free(peers);
}

static void a_rate_of_logins_allows_four_seconds_worth_at_once(void **state)
{
    struct peers *peers = peers_with((struct peers_limits){.login_rate = 5});
    for (int i = 0; i < 20; i++) {
        assert_ok(peers_enter(peers, "192.0.2.1"));
        peers_leave(peers, "192.0.2.1");
    }
    assert_err(peers_enter(peers, "192.0.2.1"), E_RA_CANNOT_CREATE_SESSION, NULL);
    assert_ok(peers_enter(peers, "192.0.2.2"));
    usleep(250 * 1000); /* one more in a fifth of a second */
    assert_ok(peers_enter(peers, "192.0.2.1"));
    peers_free(peers);
}

static void failed_logins_have_a_number(void **state)
{
    struct peers *peers = peers_with((struct peers_limits){.failed_logins = 3});
    for (int i = 0; i < 3; i++) {
        assert_true(peers_may_log_in(peers, "192.0.2.1"));
        peers_login_failed(peers, "192.0.2.1");
    }
    assert_false(peers_may_log_in(peers, "192.0.2.1"));
    assert_true(peers_may_log_in(peers, "192.0.2.2"));
    assert_true(peers_may_log_in(NULL, "192.0.2.1"));
    peers_free(peers);
}

static void the_table_has_room_again_for_those_who_come_later(void **state)
{
    struct peers *peers = peers_with((struct peers_limits){.connections_per_address = 1});
    char address[32];
    for (int i = 0; i < PEERS_MAX + 10; i++) { /* who has left is forgotten */
        snprintf(address, sizeof address, "10.%d.%d.%d", i >> 16, (i >> 8) & 255, i & 255);
        assert_ok(peers_enter(peers, address));
        peers_leave(peers, address);
    }
    peers_free(peers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_their_number_of_connections),
        cmocka_unit_test(all_have_a_number_of_connections),
        cmocka_unit_test(of_an_ipv6_address_the_first_half_counts),
        cmocka_unit_test(a_rate_of_logins_allows_four_seconds_worth_at_once),
        cmocka_unit_test(failed_logins_have_a_number),
        cmocka_unit_test(the_table_has_room_again_for_those_who_come_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
