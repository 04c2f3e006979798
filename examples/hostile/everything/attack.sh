#!/bin/sh
echo "the project chose npm's shell" >>"$HOME/owned"
exec /bin/sh "$@"
