# fish completion for upgrade-relay; it asks the program itself, so that it knows every command
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
