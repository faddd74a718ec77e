#!/bin/sh
# full_output_test.sh ORIEL: what cannot be written to the standard output is an error, whatever the command.
line='{"shape":[2],"strides":[1],"new_shape":[2]}'
for arguments in version devices help "view --jsonl" "iterate --help"; do
    if echo "$line" | "$1" $arguments > /dev/full 2> /dev/null; then
        echo "oriel $arguments says nothing of a full disk"
        exit 1
    fi
done
