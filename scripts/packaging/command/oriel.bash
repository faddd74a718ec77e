# Completes `oriel` in bash: commands, then a command's options or files. All names come from `oriel help`.
_oriel() {
    local current=${COMP_WORDS[COMP_CWORD]} program=${COMP_WORDS[0]} words
    COMPREPLY=()
    if [[ $COMP_CWORD -eq 1 || ( $COMP_CWORD -eq 2 && ${COMP_WORDS[1]} == help ) ]]; then
        words=$("$program" help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')
    elif [[ $COMP_CWORD -eq 2 && ${COMP_WORDS[1]} == fuzz && $current != -* ]]; then
        words="reshape shard"
    elif [[ $current == -* ]]; then
        words="--help $("$program" help "${COMP_WORDS[1]}" 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)"
    else
        # NAME=FILE: readline treats = as the end of a word.
        [[ $current != = ]] || current=
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        compopt -o filenames 2>/dev/null
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _oriel oriel
