"""Numbers of users that this host gives to nobody, for tests that root runs as a plain user."""

import grp
import pwd


def is_taken(number):
    for look_up in (pwd.getpwuid, grp.getgrgid):
        try:
            look_up(number)
            return True
        except KeyError:
            pass
    return False


def free_id(start=12345):
    """The first number from `start` on that is neither a user's nor a group's. tests/support/plain_user.cc counts in the same way."""
    while is_taken(start):
        start += 1
    return start
