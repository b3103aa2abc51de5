"""Scripts of shells that complete commands: they ask `tradewind completion words` for the candidates."""

from __future__ import annotations

SCRIPTS = {
    "bash": """_tradewind() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <("${COMP_WORDS[0]}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _tradewind tradewind
""",
    "zsh": """#compdef tradewind
_tradewind() {
    local -a found
    found=("${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[*]}" ]]; then
        compadd -Q -- "${found[@]}"
    else
        _files
    fi
}
compdef _tradewind tradewind
""",
    "fish": """function __tradewind_complete
    set -l given (commandline -opc) (commandline -ct)
    $given[1] completion words -- $given[2..-1] 2>/dev/null
end
complete -c tradewind -a '(__tradewind_complete)'
""",
}
"""By shell."""
