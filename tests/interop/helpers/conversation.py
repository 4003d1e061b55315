#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Raw conversations with a server of the svn:// protocol.

usage: conversation.py COMMAND PORT ...     see the functions that are named do_COMMAND

A conversation is said in one go, without waiting; then the end of input follows, and all that the server answered until
it closed the connection is noted, one item a line, in a form that two servers can agree on: lists of lists are sorted
(they come out of hash tables), the place in the source that an error names is left out, so are texts of deltas."""
import itertools
import os
import re
import socket
import struct
import sys
import time

CAPS = b"( edit-pipeline svndiff1 accepts-svndiff2 absent-entries depth mergeinfo log-revprops ) "


def s(text):
    text = text if isinstance(text, bytes) else text.encode()
    return b"%d:%s " % (len(text), text)


def greet(port, path="/repos", version=2, caps=CAPS, url=None):
    return b"( %d %s%s10:SVN/1.14.2 ( ) ) ( ANONYMOUS ( 0: ) ) " % (version, caps, s(url or "svn://127.0.0.1:%d%s" % (port, path)))


COMMIT = b"( commit ( 1:m ( ) false ) ) "
ROOT = b"( open-root ( ( ) 1:r ) ) "
EMPTY_DELTA = b"( textdelta-chunk ( 1:f 4:SVN\0 ) ) "
END = b"( close-dir ( 1:r ) ) ( close-edit ( ) ) "
ABORT = b"( abort-edit ( ) ) "

# What is said once the repository is open.
COMMANDS = {
    "get-latest-rev": b"( get-latest-rev ( ) ) ",
    "get-latest-rev with more than it knows": b"( get-latest-rev ( 7 1:x ( ) ) future ) ",
    "get-dated-rev": b"( get-dated-rev ( 27:2004-07-05T20:00:00.000000Z ) ) ( get-dated-rev ( 27:2100-07-05T20:00:00.000000Z ) ) ",
    "get-dated-rev without a date": b"( get-dated-rev ( 3:now ) ) ( get-latest-rev ( ) ) ",
    "get-dated-rev of a number": b"( get-dated-rev ( 3 ) ) ( get-latest-rev ( ) ) ",
    "check-path": b"( check-path ( 0: ( ) ) ) ( check-path ( 5:trunk ( ) ) ) ( check-path ( 12:trunk/README ( ) ) ) ( check-path ( 4:none ( ) ) ) ",
    "check-path in r0 and beyond": b"( check-path ( 5:trunk ( 0 ) ) ) ( check-path ( 5:trunk ( 99999 ) ) ) ( get-latest-rev ( ) ) ",
    "check-path below a file": b"( check-path ( 14:trunk/README/x ( ) ) ) ",
    "check-path of no string": b"( check-path ( 5 ( ) ) ) ( get-latest-rev ( ) ) ",
    "check-path without its tail": b"( check-path ( 5:trunk ) ) ( get-latest-rev ( ) ) ",
    "check-path of a slash": b"( check-path ( 6:trunk/ ( ) ) ) ( check-path ( 6:/trunk ( ) ) ) ( check-path ( 13:trunk//README ( ) ) ) ",
    "stat": b"( stat ( 12:trunk/README ( ) ) ) ( stat ( 5:trunk ( 1 ) ) ) ( stat ( 4:none ( ) ) ) ( stat ( 0: ( ) ) ) ",
    "stat of a revision to come": b"( stat ( 5:trunk ( 99999 ) ) ) ( get-latest-rev ( ) ) ",
    "get-file": b"( get-file ( 12:trunk/README ( ) true true ) ) ( get-file ( 12:trunk/README ( ) false false true ) ) ",
    "get-file of a folder": b"( get-file ( 5:trunk ( ) true true ) ) ( get-latest-rev ( ) ) ",
    "get-file of nothing": b"( get-file ( 4:none ( ) true true ) ) ( get-latest-rev ( ) ) ",
    "get-file with words for strings": b"( get-file ( trunk ( ) true true ) ) ( get-latest-rev ( ) ) ",
    "get-file with a doubtful bool": b"( get-file ( 12:trunk/README ( ) maybe true ) ) ( get-latest-rev ( ) ) ",
    "get-dir": b"( get-dir ( 5:trunk ( ) true true ) ) ( get-dir ( 5:trunk ( ) false true ( kind ) ) ) ( get-dir ( 0: ( 0 ) true true ( ) ) ) ",
    "get-dir of a file": b"( get-dir ( 12:trunk/README ( ) true true ) ) ( get-latest-rev ( ) ) ",
    "get-dir of nothing": b"( get-dir ( 4:none ( ) true true ) ) ( get-latest-rev ( ) ) ",
    "get-dir with a field of the future": b"( get-dir ( 5:trunk ( ) false true ( kind colour size ) ) ) ",
    "list": b"( list ( 5:trunk ( ) immediates ( kind size ) ) ) ( list ( 5:trunk ( ) infinity ( kind ) ( 3:*.c ) ) ) ",
    "list of nothing": b"( list ( 4:none ( ) infinity ( kind ) ) ) ( get-latest-rev ( ) ) ",
    "get-iprops": b"( get-iprops ( 12:trunk/README ( 5 ) ) ) ( get-iprops ( 4:none ( 5 ) ) ) ",
    "get-iprops without a revision": b"( get-iprops ( 12:trunk/README ( ) ) ) ( get-iprops ( 12:trunk/README ( 18446744073709551615 ) ) ) ",
    "get-mergeinfo": b"( get-mergeinfo ( ( 5:trunk ) ( ) inherited false ) ) ( get-mergeinfo ( ( 5:trunk ) ( ) explicit true ) ) ",
    "rev-proplist": b"( rev-proplist ( 1 ) ) ( rev-proplist ( 99999 ) ) ( rev-proplist ( 0 ) ) ",
    "rev-prop": b"( rev-prop ( 1 7:svn:log ) ) ( rev-prop ( 1 4:none ) ) ( rev-prop ( 99999 7:svn:log ) ) ",
    "rev-prop without a name": b"( rev-prop ( 1 ) ) ( get-latest-rev ( ) ) ",
    "change-rev-prop2": b"( change-rev-prop2 ( 1 4:test ( 1:x ) ( true ) ) ) ( rev-prop ( 1 4:test ) ) ( change-rev-prop2 ( 1 4:test ( 1:y ) ( false 1:z ) ) ) "
                        b"( change-rev-prop2 ( 1 4:test ( ) ( false 1:x ) ) ) ( rev-prop ( 1 4:test ) ) ",
    "change-rev-prop2 of a revision to come": b"( change-rev-prop2 ( 99999 4:test ( 1:x ) ( true ) ) ) ( get-latest-rev ( ) ) ",
    "change-rev-prop2 that contradicts itself": b"( change-rev-prop2 ( 1 4:test ( 1:y ) ( true 1:z ) ) ) ( get-latest-rev ( ) ) ",
    "change-rev-prop2 of a bad date in a revision to come": b"( change-rev-prop2 ( 99999 8:svn:date ( 5:never ) ( true ) ) ) ( get-latest-rev ( ) ) ",
    "change-rev-prop2 that removes what may not be set": b"( change-rev-prop2 ( 1 11:svn:entry:x ( ) ( true ) ) ) ( change-rev-prop ( 1 8:svn:wc:x ) ) ",
    "change-rev-prop of a bad date": b"( change-rev-prop ( 1 8:svn:date 5:never ) ) ( rev-prop ( 1 8:svn:date ) ) ",
    "reparent": lambda port: b"( reparent ( %s) ) ( check-path ( 6:README ( ) ) ) " % s("svn://127.0.0.1:%d/repos/trunk" % port),
    "reparent to elsewhere": b"( reparent ( 17:svn://other/repos ) ) ( get-latest-rev ( ) ) ",
    "log": b"( log ( ( 0: ) ( 3 ) ( 1 ) true false 0 false all-revprops ( ) ) ) ( log ( ( 5:trunk ) ( ) ( 0 ) false true 2 false revprops ( 7:svn:log ) ) ) ",
    "log of revisions to come": b"( log ( ( 0: ) ( 99999 ) ( 1 ) true false 0 ) ) ( get-latest-rev ( ) ) ",
    "log of nothing": b"( log ( ( 4:none ) ( 3 ) ( 1 ) false false 0 ) ) ( get-latest-rev ( ) ) ",
    "log with numbers for paths": b"( log ( ( 5 ) ( 3 ) ( 1 ) false false 0 ) ) ( get-latest-rev ( ) ) ",
    "get-locations": b"( get-locations ( 12:trunk/README 4 ( 1 2 3 ) ) ) ( get-locations ( 4:none 4 ( 1 ) ) ) ( get-latest-rev ( ) ) ",
    "get-location-segments": b"( get-location-segments ( 12:trunk/README ( ) ( ) ( ) ) ) ( get-location-segments ( 4:none ( ) ( ) ( ) ) ) ",
    "get-location-segments backwards": b"( get-location-segments ( 12:trunk/README ( 3 ) ( 1 ) ( 2 ) ) ) ( get-latest-rev ( ) ) ",
    "get-file-revs": b"( get-file-revs ( 12:trunk/README ( 1 ) ( 5 ) false ) ) ",
    "get-file-revs of a folder": b"( get-file-revs ( 5:trunk ( 1 ) ( 5 ) false ) ) ( get-latest-rev ( ) ) ",
    "get-deleted-rev": b"( get-deleted-rev ( 5:trunk 1 5 ) ) ( get-deleted-rev ( 4:none 1 5 ) ) ( get-latest-rev ( ) ) ",
    "get-deleted-rev without a revision": b"( get-deleted-rev ( 5:trunk 18446744073709551615 5 ) ) ( get-deleted-rev ( 5:trunk 1 18446744073709551615 ) ) ",
    "get-lock": b"( get-lock ( 12:trunk/README ) ) ( get-locks ( 0: ) ) ( get-locks ( 0: ( infinity ) ) ) ( get-locks ( 0: ( sideways ) ) ) ( get-latest-rev ( ) ) ",
    "lock by nobody": b"( lock ( 12:trunk/README ( ) false ( ) ) ) ( get-latest-rev ( ) ) ",
    "unlock by nobody": b"( unlock ( 12:trunk/README ( ) false ) ) ( get-latest-rev ( ) ) ",
    "update that is given up": b"( update ( ( 2 ) 0: true ) ) ( set-path ( 0: 2 false ) ) ( abort-report ( ) ) ( get-latest-rev ( ) ) ",
    "a report without a root": b"( update ( ( 2 ) 0: true ) ) ( set-path ( 5:trunk 2 false ) ) ( finish-report ( ) ) ( get-latest-rev ( ) ) ",
    "an empty report": b"( update ( ( 2 ) 0: true ) ) ( finish-report ( ) ) ( get-latest-rev ( ) ) ",
    "an unknown command": b"( make-coffee ( 1:x ) ) ( get-latest-rev ( ) ) ",
    "a command that is no tuple": b"( get-latest-rev ) ( get-latest-rev ( ) ) ",
    "a number for a command": b"( 7 ( ) ) ( get-latest-rev ( ) ) ",
    "garbage": b"GET / HTTP/1.0\r\n\r\n",
    "a word that is too long": b"( " + b"w" * 32 + b" ( ) ) ( get-latest-rev ( ) ) ",
    "a number that is too large": b"( rev-proplist ( 99999999999999999999 ) ) ( get-latest-rev ( ) ) ",
    "a revision that is no signed number": b"( rev-proplist ( 18446744073709551615 ) ) ( get-latest-rev ( ) ) ",
    "an empty commit": COMMIT + ROOT + END,
    "a commit whose digests are not known": COMMIT + ROOT + b"( open-file ( 12:trunk/README 1:r 1:t ( ) ) ) "
    b"( apply-textdelta ( 1:t ( 32:" + b"0" * 32 + b" ) ) ) " + b"( textdelta-chunk ( 1:t 13:SVN\0\0\0\3\1\3\x83abc ) ) ( textdelta-end ( 1:t ) ) "
    b"( close-file ( 1:t ( 32:" + b"0" * 32 + b" ) ) ) " + ABORT,
    "a commit that is given up": COMMIT + ROOT + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit of a property of a root that is out of date": COMMIT + b"( open-root ( ( 1 ) 1:r ) ) ( change-dir-prop ( 1:r 1:p ( 1:v ) ) ) " + ABORT,
    "a commit of a property of a root that it changed before": COMMIT + b"( open-root ( ( 1 ) 1:r ) ) ( add-dir ( 3:one 1:r 1:d ( ) ) ) "
                                                               b"( change-dir-prop ( 1:r 1:p ( 1:v ) ) ) " + ABORT,
    "a commit that deletes a root that is out of date": COMMIT + b"( open-root ( ( 1 ) 1:r ) ) ( delete-entry ( 0: ( 1 ) 1:r ) ) " + ABORT,
    "a commit that opens a folder as a file": COMMIT + ROOT + b"( open-file ( 5:trunk 1:r 1:f ( 1 ) ) ) " + ABORT,
    "a copy over what is there, from a revision to come": lambda port: COMMIT + ROOT + b"( add-dir ( 5:trunk 1:r 1:d ( %s99999 ) ) ) " % s(
        "svn://127.0.0.1:%d/repos/trunk" % port) + ABORT,
    "a commit of a folder": COMMIT + ROOT + b"( add-dir ( 3:new 1:r 1:d ( ) ) ) ( change-dir-prop ( 1:d 1:p ( 1:v ) ) ) ( close-dir ( 1:d ) ) " + END
                            + b"( get-dir ( 3:new ( ) false true ) ) ",
    "a commit of a file": COMMIT + ROOT + b"( add-file ( 4:file 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( textdelta-chunk ( 1:f 13:SVN\0\0\0\3\1\3\x83abc ) ) "
                          b"( textdelta-end ( 1:f ) ) ( close-file ( 1:f ( 32:900150983cd24fb0d6963f7d28e17f72 ) ) ) " + END + b"( get-file ( 4:file ( ) false true ) ) ",
    "a commit with a wrong checksum": COMMIT + ROOT + b"( add-file ( 4:bad1 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( textdelta-chunk ( 1:f 13:SVN\0\0\0\3\1\3\x83abd ) ) "
                                      b"( textdelta-end ( 1:f ) ) ( close-file ( 1:f ( 32:900150983cd24fb0d6963f7d28e17f72 ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit with a delta of nonsense": COMMIT + ROOT + b"( add-file ( 4:bad2 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( textdelta-chunk ( 1:f 8:nonsense ) ) "
                                         + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit of what exists": COMMIT + ROOT + b"( add-dir ( 5:trunk 1:r 1:d ( ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit below nothing": COMMIT + ROOT + b"( add-dir ( 6:none/x 1:r 1:d ( ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit that deletes nothing": COMMIT + ROOT + b"( delete-entry ( 4:none ( ) 1:r ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit that is out of date": COMMIT + ROOT + b"( delete-entry ( 5:trunk ( 1 ) 1:r ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit that opens nothing": COMMIT + ROOT + b"( open-file ( 4:none 1:r 1:f ( 1 ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "success ends an edit that failed": COMMIT + ROOT + b"( delete-entry ( 4:none ( ) 1:r ) ) ( success ( ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit that copies from elsewhere": COMMIT + ROOT + b"( add-dir ( 4:copy 1:r 1:d ( 17:svn://other/repos 1 ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit that copies from a revision to come": lambda port: COMMIT + ROOT + b"( add-dir ( 4:copy 1:r 1:d ( %s99999 ) ) ) " % s("svn://127.0.0.1:%d/repos/trunk" % port)
                                                    + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit with an entry property": COMMIT + ROOT + b"( change-dir-prop ( 1:r 15:svn:entry:uuid2 ( 1:x ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit with bad mergeinfo": COMMIT + ROOT + b"( change-dir-prop ( 1:r 13:svn:mergeinfo ( 4:a\r\nb ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit based on a revision to come": COMMIT + b"( open-root ( ( 99999 ) 1:r ) ) " + ABORT,
    "a commit of a property, based on a revision to come": COMMIT + ROOT + b"( open-dir ( 5:trunk 1:r 1:d ( 99999 ) ) ) ( change-dir-prop ( 1:d 1:p ( 1:v ) ) ) " + ABORT,
    "a copy to what is not UTF-8, from nothing": lambda port: COMMIT + ROOT + b"( add-file ( 1:\xff 1:r 1:d ( %s5 ) ) ) " % s("svn://127.0.0.1:%d/repos/none" % port) + ABORT,
    "a commit below a file": COMMIT + ROOT + b"( open-file ( 14:trunk/README/x 1:r 1:f ( ) ) ) " + ABORT,
    "a commit of a copy below a file": lambda port: COMMIT + ROOT + b"( add-dir ( 14:trunk/README/x 1:r 1:d ( %s5 ) ) ) " % s("svn://127.0.0.1:%d/repos/trunk" % port) + ABORT,
    "a commit that copies from below a file": lambda port: COMMIT + ROOT + b"( add-file ( 4:copy 1:r 1:d ( %s5 ) ) ) " % s("svn://127.0.0.1:%d/repos/trunk/README/x" % port) + ABORT,
    "a commit with a bad property": COMMIT + ROOT + b"( change-dir-prop ( 1:r 10:svn:ignore ( 3:a\rb ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit with a control character": COMMIT + ROOT + b"( add-dir ( 3:a\tb 1:r 1:d ( ) ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit of no string": b"( commit ( 7 ) ) ( get-latest-rev ( ) ) ",
}

# What must not do harm, whatever is answered: servers may differ in how they refuse it.
HOSTILE = {
    "replay": b"( replay ( 2 0 false ) ) ( get-latest-rev ( ) ) ",
    "replay of a revision to come": b"( replay ( 99999 0 true ) ) ( get-latest-rev ( ) ) ",
    "replay-range beyond the youngest": b"( replay-range ( 99998 99999 0 true ) ) ( get-latest-rev ( ) ) ",
    "update of nothing new": b"( update ( ( 2 ) 0: true infinity false false ) ) ( set-path ( 0: 2 false ) ) ( finish-report ( ) ) ( success ( ) ) ( get-latest-rev ( ) ) ",
    "update to a revision to come": b"( update ( ( 99999 ) 0: true ) ) ( set-path ( 0: 2 false ) ) ( finish-report ( ) ) ( success ( ) ) ( get-latest-rev ( ) ) ",
    "a report of a revision to come": b"( update ( ( 2 ) 0: true ) ) ( set-path ( 0: 99999 false ) ) ( finish-report ( ) ) ( success ( ) ) ( get-latest-rev ( ) ) ",
    "a report with a strange command": b"( update ( ( 2 ) 0: true ) ) ( set-path ( 0: 2 false ) ) ( get-latest-rev ( ) ) ( finish-report ( ) ) ( get-latest-rev ( ) ) ",
    "a report with a wrong kind": b"( update ( ( 2 ) 0: true ) ) ( set-path ( 0: 1:x false ) ) ( finish-report ( ) ) ( get-latest-rev ( ) ) ",
    "a commit with an unknown token": COMMIT + ROOT + b"( close-dir ( 7:unknown ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "a commit with an unknown command": COMMIT + ROOT + b"( get-latest-rev ( ) ) " + ABORT + b"( get-latest-rev ( ) ) ",
    "leaves the repository": b"( check-path ( 8:../repos ( ) ) ) ",
    "leaves by a file": b"( get-file ( 26:../../../../../etc/passwd ( ) false true ) ) ",
    "leaves within": b"( get-dir ( 11:trunk/../.. ( ) false true ) ) ",
    "reports a path that leaves": b"( update ( ( 2 ) 0: true ) ) ( set-path ( 0: 2 false ) ) ( set-path ( 5:../.. 2 false ) ) ( finish-report ( ) ) ",
    "updates a target that leaves": b"( update ( ( 2 ) 2:.. true ) ) ( set-path ( 0: 2 false ) ) ( finish-report ( ) ) ",
    "commits a path that leaves": COMMIT + ROOT + b"( add-dir ( 9:../../out 1:r 1:d ( ) ) ) " + END + ABORT,
    "commits the root again": COMMIT + ROOT + b"( add-dir ( 0: 1:r 1:d ( ) ) ) ( close-dir ( 1:d ) ) " + END + ABORT,
    "commits a file as the root": COMMIT + ROOT + b"( add-file ( 0: 1:r 1:f ( ) ) ) ( close-file ( 1:f ( ) ) ) " + END + ABORT,
    "deletes the root": COMMIT + ROOT + b"( delete-entry ( 0: ( ) 1:r ) ) " + END + ABORT,
    "opens the root twice": COMMIT + ROOT + ROOT + END + ABORT,
    "never opens the root": COMMIT + b"( close-edit ( ) ) " + ABORT,
    "ends within a text": COMMIT + ROOT + b"( add-file ( 2:h1 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) " + EMPTY_DELTA + b"( close-edit ( ) ) " + ABORT,
    "ends within a file": COMMIT + ROOT + b"( add-file ( 2:h2 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) " + EMPTY_DELTA + b"( textdelta-end ( 1:f ) ) ( close-edit ( ) ) " + ABORT,
    "closes a folder within a text": COMMIT + ROOT + b"( add-file ( 2:h3 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( close-dir ( 1:f ) ) ( close-edit ( ) ) " + ABORT,
    "deletes a file within its text": COMMIT + ROOT + b"( add-file ( 2:h4 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) " + EMPTY_DELTA + b"( delete-entry ( 2:h4 ( ) 1:r ) ) "
                                      b"( textdelta-chunk ( 1:f 9:\0\0\3\1\3\x83abc ) ) ( textdelta-end ( 1:f ) ) ( close-file ( 1:f ( ) ) ) " + END + ABORT,
    "deletes a folder around a text": COMMIT + ROOT + b"( add-dir ( 2:h5 1:r 1:d ( ) ) ) ( add-file ( 4:h5/f 1:d 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( delete-entry ( 2:h5 ( ) 1:r ) ) "
                                      + EMPTY_DELTA + b"( change-file-prop ( 1:f 1:p ( 1:v ) ) ) ( close-file ( 1:f ( ) ) ) " + END + ABORT,
    "replaces a file within its text": COMMIT + ROOT + b"( add-file ( 2:h6 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( delete-entry ( 2:h6 ( ) 1:r ) ) ( add-dir ( 2:h6 1:r 1:d ( ) ) ) "
                                       + EMPTY_DELTA + b"( textdelta-end ( 1:f ) ) ( close-file ( 1:f ( ) ) ) ( close-dir ( 1:d ) ) " + END + ABORT,
    "opens a text twice": COMMIT + ROOT + b"( add-file ( 2:h7 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) " + END + ABORT,
    "opens a file twice, and both texts": COMMIT + ROOT + b"( open-file ( 12:trunk/README 1:r 1:f ( ) ) ) ( open-file ( 12:trunk/README 1:r 1:g ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) "
                                          b"( apply-textdelta ( 1:g ( ) ) ) " + EMPTY_DELTA + b"( textdelta-chunk ( 1:g 4:SVN\0 ) ) ( close-file ( 1:g ( ) ) ) ( close-file ( 1:f ( ) ) ) " + END + ABORT,
    "opens a file under the token of another": COMMIT + ROOT + b"( add-file ( 2:h8 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( add-file ( 2:h9 1:r 1:f ( ) ) ) ( close-file ( 1:f ( ) ) ) " + END + ABORT,
    "sends a text for a folder": COMMIT + ROOT + b"( apply-textdelta ( 1:r ( ) ) ) " + END + ABORT,
    "sends a text for nothing": COMMIT + ROOT + b"( add-file ( 3:h10 1:r 1:f ( ) ) ) " + EMPTY_DELTA + END + ABORT,
    "sends a text of announced length only": COMMIT + ROOT + b"( add-file ( 3:h11 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( textdelta-chunk ( 1:f 4000000000:SVN",
    "adds below a file": COMMIT + ROOT + b"( open-file ( 12:trunk/README 1:r 1:f ( ) ) ) ( add-file ( 14:trunk/README/x 1:f 1:g ( ) ) ) " + END + ABORT,
    "closes a file as a folder": COMMIT + ROOT + b"( open-file ( 12:trunk/README 1:r 1:f ( ) ) ) ( close-dir ( 1:f ) ) " + END + ABORT,
    "is absent": COMMIT + ROOT + b"( absent-dir ( 1:x 1:r ) ) ( target-rev ( 3 ) ) ( finish-replay ( ) ) " + END + ABORT,
    "answers an update with a failure": b"( update ( ( ) 0: true ) ) ( set-path ( 0: 0 true ) ) ( finish-report ( ) ) ( failure ( ( 200000 1:x 0: 0 ) ) ) ",
    "answers an update with an empty failure": b"( update ( ( ) 0: true ) ) ( set-path ( 0: 0 true ) ) ( finish-report ( ) ) ( failure ( ) ) ",
    "reports deeper than deep": b"( update ( ( 2 ) 0: true ) ) ( set-path ( 0: 2 false ) ) ( set-path ( %s2 false ) ) ( finish-report ( ) ) ( success ( ) ) " % s("a/" * 20000 + "a"),
    "nests for ever": b"( stat " + b"( " * 100000,
    "counts for ever": b"( stat ( " + b"1 " * 200000 + b") ) ",
    "asks for every revision there could be": b"( replay-range ( 0 9223372036854775807 9223372036854775807 false ) ) ",
    "asks for no revision": b"( replay-range ( 18446744073709551615 0 0 false ) ) ( log ( ( 0: ) ( 18446744073709551615 ) ( 0 ) true false 18446744073709551615 ) ) ",
    "asks for locations in all revisions": b"( get-locations ( 5:trunk 3 ( 18446744073709551615 9223372036854775807 0 0 0 3 3 ) ) ) ",
    "locks with a strange path": b"( lock-many ( ( ) false ( ( 2:.. ( ) ) ( 0: ( ) ) ) ) ) ",
    "asks with NUL and newline": b"( check-path ( 3:a\0b ( ) ) ) ( check-path ( 3:a\nb ( ) ) ) ( rev-prop ( 1 3:a\0b ) ) ",
    "sets a property without a name": b"( change-rev-prop2 ( 1 0: ( 1:x ) ( true ) ) ) ( change-rev-prop2 ( 1 0: ( ) ( true ) ) ) ",
}

GREETINGS = {
    "the session's path is within": ("/repos/trunk/README", {}),
    "the session's path is not canonical": ("/repos//trunk/./", {}),
    "the session's path is not there": ("/repos/none/x", {}),
    "the session's path is not there, and a change is made below": ("/repos/none", {"then": COMMIT + ROOT + b"( add-dir ( 1:x 1:r 1:d ( ) ) ) " + ABORT}),
    "the session's path is not there, and a property is set": ("/repos/none", {"then": COMMIT + ROOT + b"( change-dir-prop ( 1:r 1:p ( 1:v ) ) ) " + ABORT}),
    "the session's path is not there, and bad mergeinfo is set": ("/repos/none", {"then": COMMIT + b"( open-root ( ( 2 ) 1:r ) ) ( change-dir-prop ( 1:r 13:svn:mergeinfo ( 1:x ) ) ) " + ABORT}),
    "the session's path is below a file, and bad mergeinfo is set": ("/repos/trunk/README/x", {"then": COMMIT + b"( open-root ( ( 2 ) 1:r ) ) ( change-dir-prop ( 1:r 13:svn:mergeinfo ( 1:x ) ) ) " + ABORT}),
    "the session's path is not there, and bad mergeinfo is set, without a revision": ("/repos/none", {"then": COMMIT + ROOT + b"( change-dir-prop ( 1:r 13:svn:mergeinfo ( 1:x ) ) ) " + ABORT}),
    "the session's path is not there, and an entry is deleted": ("/repos/none", {"then": COMMIT + ROOT + b"( delete-entry ( 1:x ( 1 ) 1:r ) ) " + ABORT}),
    "there is no such repository": ("/none/such", {}),
    "an old protocol": ("/repos", {"version": 1}),
    "a new protocol": ("/repos", {"version": 3}),
    "no edit pipeline": ("/repos", {"caps": b"( ) "}),
    "capabilities of the future": ("/repos", {"caps": b"( edit-pipeline mind-reading ) "}),
    "no list of capabilities": ("/repos", {"caps": b"3:abc "}),
    "no svn URL": ("", {"url": "http://127.0.0.1/repos"}),
}

HOSTILE_GREETINGS = {
    "a URL that leaves": ("/../../../../etc", {}),
    "a URL that leaves later": ("/repos/../..", {}),
    "a URL with encoded slashes": ("/repos%2Ftrunk%2Fsrc%2Flib%2F..%2Fx%2Fy%2Fz", {}),
    "a URL that leaves by encoded dots": ("/%2e%2e/%2E%2E/etc", {}),
    "a URL with a bad escape": ("/repos/%zz", {}),
    "a URL with NUL": ("/repos/%00", {}),
    "a URL without a host": ("", {"url": "svn://"}),
    "a URL of nothing": ("", {"url": "svn:///"}),
    "a URL of slashes": ("//////////", {}),
    "a URL that is long": ("/repos/" + "a/" * 15000, {}),
    "a greeting that is too long": ("/repos/" + "a" * 100000, {}),
}


# The same codes, in other words: ours name the object, and nobody reads these but people.
OTHER_WORDS = {
    "get-dated-rev without a date",
    "get-file of a folder",
    "get-location-segments backwards",
    "a commit with a delta of nonsense",
    "a commit with an entry property",
    "a commit with a wrong checksum",
    "a commit with a control character",
}


# ---- the answers ------------------------------------------------------------------------------


def parse(data):
    """Items of DATA as Python values: words are ("w", text)."""
    at = 0

    def item():
        nonlocal at
        while data[at:at + 1] in (b" ", b"\n"):
            at += 1
        c = data[at:at + 1]
        start = at
        if c == b"(":
            at += 1
            out = []
            while True:
                while data[at:at + 1] in (b" ", b"\n"):
                    at += 1
                if data[at:at + 1] == b")":
                    at += 1
                    return out
                out.append(item())
        if c.isdigit():
            while data[at:at + 1].isdigit():
                at += 1
            n = int(data[start:at])
            if data[at:at + 1] == b":":
                text = data[at + 1:at + 1 + n]
                if len(text) < n:
                    raise IndexError
                at += 1 + n
                return text
            return n
        while data[at:at + 1] not in (b" ", b"\n", b"", b"(", b")"):
            at += 1
        if start == at:
            raise IndexError
        return ("w", data[start:at].decode("latin-1"))

    out = []
    try:
        while data[at:].strip():
            out.append(item())
    except (IndexError, RecursionError):
        out.append(("w", "<cut off>"))
    return out


def show(item):
    if isinstance(item, tuple):
        return item[1]
    if isinstance(item, list):
        parts = [show(i) for i in item]
        if item and all(isinstance(i, list) for i in item):
            parts.sort()
        return "( " + " ".join(parts + [")"])
    return repr(item)


def plain(item, with_texts=True):
    """What may differ between two servers: where in their source an error arose, how a delta is made."""
    if isinstance(item, list) and len(item) == 2 and item[0] == ("w", "failure") and isinstance(item[1], list):
        return [item[0]] + [e[:2 if with_texts else 1] for e in item[1] if isinstance(e, list)]
    if isinstance(item, list) and item and item[0] == ("w", "textdelta-chunk"):
        return [item[0], ("w", "...")]
    return item


# Locations come in the order of a hash, which is another in every process.
LOCATION = re.compile(r"\( \d+ b'/")


def told(port, data, with_texts=True):
    """The answers behind the greeting, a line each. Chunks of a delta are one; what happens now has no time."""
    lines = []
    for item in parse(data)[1:]:
        line = "<delta>" if isinstance(item, bytes) and item and (item.startswith(b"SVN") or lines[-1:] == ["<delta>"]) else show(plain(item, with_texts))
        if line != "<delta>" or lines[-1:] != ["<delta>"]:
            lines.append(line)
    lines = [line for is_place, run in itertools.groupby(lines, key=lambda line: bool(LOCATION.match(line)))
             for line in (sorted(run) if is_place else run)]
    text = "\n".join(lines) + "\n"
    text = re.sub(r"20[2-9][0-9]-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "NOW", text)
    return re.sub(r"transaction '[0-9a-z-]+'", "TXN", text.replace("127.0.0.1:%d" % port, "HOST"))


def connect(port):
    sock = socket.create_connection(("127.0.0.1", port), timeout=30)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def read_all(sock):
    data = b""
    while True:
        try:
            piece = sock.recv(65536)
        except ConnectionResetError:
            return data
        except socket.timeout:
            return data + b" <hangs> "
        if not piece:
            return data
        data += piece


def exchange(port, said):
    sock = connect(port)
    try:
        sock.sendall(said)
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    data = read_all(sock)
    sock.close()
    return data


def said_in(name, port):
    for table in (GREETINGS, HOSTILE_GREETINGS):
        if name in table:
            path, options = table[name]
            options = dict(options)
            then = options.pop("then", b"( get-latest-rev ( ) ) ")
            return greet(port, path, **options) + then
    said = COMMANDS.get(name, HOSTILE.get(name))
    said = said(port) if callable(said) else said
    return greet(port) + said


TABLES = {"agreed": [COMMANDS, GREETINGS], "hostile": [HOSTILE, HOSTILE_GREETINGS]}


def do_say_all(port, kind, folder):
    """Hold all conversations of KIND, one after the other; what is told goes to a file of its name in FOLDER."""
    port = int(port)
    os.makedirs(folder)
    for table in TABLES[kind]:
        for name in table:
            data = exchange(port, said_in(name, port))
            with open(os.path.join(folder, name), "w") as out:
                out.write(told(port, data, name not in OTHER_WORDS))


# ---- behaviour that takes time ------------------------------------------------------------------


def do_flood(port, megabytes):
    """A commit that fails at once, and a client that notices only after it has sent MEGABYTES."""
    port = int(port)
    sock = connect(port)
    sock.sendall(greet(port) + COMMIT + ROOT + b"( delete-entry ( 4:none ( ) 1:r ) ) ( add-file ( 1:f 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ")
    chunk = b"( textdelta-chunk ( 1:f 65536:" + b"x" * 65536 + b" ) ) "
    for _ in range(int(megabytes) * 16):
        sock.sendall(chunk)
    sock.sendall(ABORT + b"( get-latest-rev ( ) ) ")
    sock.shutdown(socket.SHUT_WR)
    print(told(port, read_all(sock)), end="")


def do_big_request(port, size):
    """One request of SIZE bytes, said while listening."""
    port = int(port)
    sock = connect(port)
    try:
        sock.sendall(greet(port) + b"( check-path ( %d:" % int(size))
        for at in range(0, int(size), 65536):
            sock.sendall(b"x" * min(65536, int(size) - at))
        sock.sendall(b" ( ) ) ) ")
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    print(told(port, read_all(sock)), end="")


LEAVING = {
    "at once": lambda port: b"",
    "after half a greeting": lambda port: greet(port)[:20],
    "before it is told of the repository": lambda port: greet(port),
    "within a command": lambda port: greet(port) + b"( get-file ( 12:trunk",
    "within a report": lambda port: greet(port) + b"( update ( ( ) 0: true ) ) ( set-path ( 0: 0 true ) ) ( set-path ( 5:tr",
    "before an export": lambda port: greet(port) + b"( update ( ( ) 0: true ) ) ( set-path ( 0: 0 true ) ) ( finish-report ( ) ) ",
    "within a commit": lambda port: greet(port) + COMMIT + ROOT + b"( add-dir ( 4:gone 1:r 1:d ( ) ) ) ",
    "within a large text": lambda port: greet(port) + COMMIT + ROOT + b"( add-file ( 4:gone 1:r 1:f ( ) ) ) ( apply-textdelta ( 1:f ( ) ) ) ( textdelta-chunk ( 1:f 4:SVN\0 ) ) "
                           + large_text(200),
}


def varint(n):
    out = [n & 127]
    while n > 127:
        n >>= 7
        out.insert(0, 128 | (n & 127))
    return bytes(out)


def large_text(windows):
    """WINDOWS windows of svndiff version 0 with 64 KiB of new data each, as chunks."""
    instructions = b"\x80" + varint(65536)
    window = varint(0) + varint(0) + varint(65536) + varint(len(instructions)) + varint(65536) + instructions + bytes(range(256)) * 256
    return (b"( textdelta-chunk ( 1:f %s) ) " % s(window)) * windows


def do_leave(port, name, manner):
    """Say what stands in LEAVING and go: "fin" closes in order, "reset" breaks the connection."""
    port = int(port)
    sock = connect(port)
    if manner == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.sendall(LEAVING[name](port))
    time.sleep(0.2)
    sock.close()


def do_leavings():
    print("\n".join(LEAVING))


def do_leave_export(port, times):
    """Ask for everything, TIMES over, take a little of it and go."""
    port = int(port)
    sock = connect(port)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    ask = b"( get-file ( %s( ) false true ) ) " % s("trunk/large")
    sock.sendall(greet(port) + ask * int(times))
    sock.recv(1000)
    time.sleep(0.5)
    sock.close()


if __name__ == "__main__":
    globals()["do_" + sys.argv[1].replace("-", "_")](*sys.argv[2:])
