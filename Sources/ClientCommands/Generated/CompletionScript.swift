// SPDX-License-Identifier: Apache-2.0

/// What makes a shell ask the program itself (`Completion`): so that a script knows no command, and none is out of date.
enum CompletionScript {
    static let bash = """
        # bash completion for upgrade-relay; made by "upgrade-relay generate bash"
        _upgrade_relay() {
            local word
            COMPREPLY=()
            while IFS=$'\\t' read -r word _; do
                if [[ $word == / ]]; then
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
                else
                    COMPREPLY+=("$word")
                fi
            done < <(upgrade-relay complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
        }
        complete -F _upgrade_relay upgrade-relay

        """

    static let zsh = """
        #compdef upgrade-relay
        # made by "upgrade-relay generate zsh"
        _upgrade_relay() {
            local line
            local -a entries
            for line in "${(@f)$(upgrade-relay complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
                if [[ $line == /* ]]; then
                    _files
                    return
                fi
                [[ -n $line ]] && entries+=("${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}")
            done
            _describe upgrade-relay entries
        }
        _upgrade_relay "$@"

        """

    static let fish = """
        # fish completion for upgrade-relay; made by "upgrade-relay generate fish"
        function __upgrade_relay
            set -l word (commandline -ct)
            for line in (upgrade-relay complete (commandline -opc)[2..] "$word" 2>/dev/null)
                if string match -q '/*' -- $line
                    __fish_complete_path "$word"
                else
                    echo $line
                end
            end
        end
        complete -c upgrade-relay -f -a '(__upgrade_relay)'

        """
}
