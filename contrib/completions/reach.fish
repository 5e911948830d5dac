function __reach_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __reach_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __reach_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __reach_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __reach_parse_tokens -S
    set -l unparsed_tokens (__reach_tokens -pc)
    switch $unparsed_tokens[1]
    case 'reach'
        __reach_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'status'
            __reach_parse_subcommand -r 1 'json' 'validated' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'watch'
            __reach_parse_subcommand 1 'json' 'pretty' 'all' 'hold-up=' 'hold-down=' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'wait'
            __reach_parse_subcommand 1 'until=+' 'timeout=' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'run'
            __reach_parse_subcommand -r 1 'when=+' 'timeout=' 'target=' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'links'
            __reach_parse_subcommand -r 1 'json' 'all' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'explain'
            __reach_parse_subcommand 1 'json' 'probe' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'top'
            __reach_parse_subcommand 0 'socket=' 'version' 'h/help'
        case 'history'
            __reach_parse_subcommand 1 'since=' 'json' 'events' 'type=+' 'state=' 'version' 'h/help'
        case 'report'
            __reach_parse_subcommand -r 1 'since=' 'until=' 'html' 'csv' 'json' 'state=' 'version' 'h/help'
        case 'probe'
            __reach_parse_subcommand -r 1 'json' 'timeout=' 'interface=' 'socket=' 'no-daemon' 'version' 'h/help'
        case 'probes'
            __reach_parse_subcommand -r 1 'json' 'socket=' 'version' 'h/help'
        case 'hooks'
            __reach_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'test'
                __reach_parse_subcommand 0 'socket=' 'version' 'h/help'
            end
        case 'queue'
            __reach_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'add'
                __reach_parse_subcommand 1 'X/request=' 'H/header=+' 'A/user-agent=' 'u/user=' 'd/data=+' 'data-raw=+' 'data-urlencode=+' 'G/get' 'F/form=+' 'T/upload-file=' 'x/proxy=' 'retry=' 'L/location' 'compressed' 'when=' 'priority=' 'expires=' 'key=' 'mode=' 'order=' 'depends' 'idempotency-key=' 'max-attempts=' 'strict' 'upload-protocol=' 'accept=+' 'o/output=' 'dry-run' 'socket=' 'json' 'version' 'h/help'
            case 'import'
                __reach_parse_subcommand -r 1 'when=' 'priority=' 'expires=' 'key=' 'mode=' 'order=' 'depends' 'idempotency-key=' 'max-attempts=' 'strict' 'upload-protocol=' 'accept=+' 'dry-run' 'socket=' 'json' 'version' 'h/help'
            case 'list'
                __reach_parse_subcommand 0 'state=+' 'a/all' 'limit=' 'socket=' 'json' 'version' 'h/help'
            case 'show'
                __reach_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'explain'
                __reach_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'hold'
                __reach_parse_subcommand -r 1 'socket=' 'json' 'all' 'version' 'h/help'
            case 'release'
                __reach_parse_subcommand -r 1 'socket=' 'json' 'all' 'fleet' 'version' 'h/help'
            case 'cancel'
                __reach_parse_subcommand -r 1 'socket=' 'json' 'version' 'h/help'
            case 'retry'
                __reach_parse_subcommand -r 1 'reason=' 'socket=' 'json' 'all' 'version' 'h/help'
            case 'wait'
                __reach_parse_subcommand 1 'timeout=' 'socket=' 'json' 'version' 'h/help'
            case 'result'
                __reach_parse_subcommand 1 'o/output=' 'socket=' 'json' 'version' 'h/help'
            case 'top'
                __reach_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            end
        case 'schema'
            __reach_parse_subcommand 1 'version' 'h/help'
        case 'fleet'
            __reach_parse_subcommand -r 1 'version' 'h/help'
        case 'help'
            __reach_parse_subcommand -r 1 'version'
        end
    end
end

function __reach_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __reach_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __reach_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __reach_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__reach_tokens -p)
    if test -z "$(__reach_tokens -t)"
        set -l index (count (__reach_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'reach' -f
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'status' -d 'Print whether targets can be reached, and how.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'watch' -d 'Print the state of a target now, and then every change.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'wait' -d 'Wait for conditions.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'run' -d 'Wait for conditions, then run COMMAND.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'links' -d 'Print the links of this machine and what each is.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'explain' -d 'Explain step by step why a target is reachable or not.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'top' -d 'Show links, paths, probes and the queue on the terminal as they change.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'history' -d 'Print what the daemon has recorded: outages and flaps.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'report' -d 'Print a report of outages, for those who have to mend them.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'probe' -d 'Test whether a server answers now, and how fast.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'probes' -d 'Print the probes in the daemon\'s configuration, and their results.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'hooks' -d 'Test the daemon\'s hooks.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'queue' -d 'Hand HTTP requests to the daemon, which sends them when the network allows.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'schema' -d 'Print the JSON Schema of the lines that commands print with --json.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'fleet' -d 'Run reach-fleet, which shows many hosts together, and reports this one.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" json' -l 'json' -d 'Print a JSON object for each target, one per line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" validated' -l 'validated' -d 'Exit by what the daemon\'s connectivity checks have proved.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" socket' -l 'socket' -d 'Ask only the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status"' -l 'class' -d 'Assign this class to interfaces whose name matches the pattern (* and ?). May be given several times.' -rfka '(__reach_custom_completion ---completion status -- --class (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status"' -l 'metered' -d 'Treat interfaces whose name matches the pattern as metered, or not. May be given several times.' -rfka '(__reach_custom_completion ---completion status -- --metered (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach status" -ge 1' -fka '(__reach_custom_completion ---completion status -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" json' -l 'json' -d 'Print JSON, one object a line, even on a terminal.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" pretty' -l 'pretty' -d 'Print lines for people, even without a terminal.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" all' -l 'all' -d 'Also print the kernel\'s notices of links, addresses, routes, rules and neighbours.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" hold-up' -l 'hold-up' -d 'Report "reachable" only after it has lasted this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" hold-down' -l 'hold-down' -d 'Report "not reachable" only after it has lasted this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" socket' -l 'socket' -d 'Ask only the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch"' -l 'class' -d 'Assign this class to interfaces whose name matches the pattern (* and ?). May be given several times.' -rfka '(__reach_custom_completion ---completion watch -- --class (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch"' -l 'metered' -d 'Treat interfaces whose name matches the pattern as metered, or not. May be given several times.' -rfka '(__reach_custom_completion ---completion watch -- --metered (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach watch" -eq 1' -fka '(__reach_custom_completion ---completion watch -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'until' -d 'What to wait for; "reachable" by default. May be given several times: all must hold.' -rfka '(__reach_custom_completion ---completion wait -- --until (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" timeout' -l 'timeout' -d 'Give up after this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" socket' -l 'socket' -d 'Ask only the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'class' -d 'Assign this class to interfaces whose name matches the pattern (* and ?). May be given several times.' -rfka '(__reach_custom_completion ---completion wait -- --class (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'metered' -d 'Treat interfaces whose name matches the pattern as metered, or not. May be given several times.' -rfka '(__reach_custom_completion ---completion wait -- --metered (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach wait" -eq 1' -fka '(__reach_custom_completion ---completion wait -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'when' -d 'What to wait for. May be given several times: all must hold.' -rfka '(__reach_custom_completion ---completion run -- --when (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" timeout' -l 'timeout' -d 'Give up after this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" target' -l 'target' -d 'The target of the conditions; the Internet by default.' -rfka '(__reach_custom_completion ---completion run -- --target (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" socket' -l 'socket' -d 'Ask only the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'class' -d 'Assign this class to interfaces whose name matches the pattern (* and ?). May be given several times.' -rfka '(__reach_custom_completion ---completion run -- --class (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'metered' -d 'Treat interfaces whose name matches the pattern as metered, or not. May be given several times.' -rfka '(__reach_custom_completion ---completion run -- --metered (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" json' -l 'json' -d 'Print a JSON object for each link, one per line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" all' -l 'all' -d 'Also print virtual ports of bridges, and virtual links and tunnels that are down and have no address.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" socket' -l 'socket' -d 'Ask only the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links"' -l 'class' -d 'Assign this class to interfaces whose name matches the pattern (* and ?). May be given several times.' -rfka '(__reach_custom_completion ---completion links -- --class (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links"' -l 'metered' -d 'Treat interfaces whose name matches the pattern as metered, or not. May be given several times.' -rfka '(__reach_custom_completion ---completion links -- --metered (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach links" -ge 1' -fka '(__reach_custom_completion ---completion links -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" json' -l 'json' -d 'Print a JSON object.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" probe' -l 'probe' -d 'Test the way to the target, layer by layer, with packets.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" socket' -l 'socket' -d 'Ask only the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain"' -l 'class' -d 'Assign this class to interfaces whose name matches the pattern (* and ?). May be given several times.' -rfka '(__reach_custom_completion ---completion explain -- --class (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain"' -l 'metered' -d 'Treat interfaces whose name matches the pattern as metered, or not. May be given several times.' -rfka '(__reach_custom_completion ---completion explain -- --metered (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach explain" -eq 1' -fka '(__reach_custom_completion ---completion explain -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach top" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach top" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach top" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" since' -l 'since' -d 'Begin then: a duration ago or a date; by default with the first record.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" json' -l 'json' -d 'Print a JSON object for each record, one per line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" events' -l 'events' -d 'Print the events of the journal, one per line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history"' -l 'type' -d 'With --events: only those of this type; may be repeated.' -rfka 'started stopped snapshot change probe queue wake'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" state' -l 'state' -d 'The directory of the history.' -rfa '(__reach_complete_directories)'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach history" -eq 1' -fka '(__reach_custom_completion ---completion history -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" since' -l 'since' -d 'Begin then: a duration ago or a date; by default with the first record.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" until' -l 'until' -d 'End then: a duration ago or a date, with that day; by default now.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" html' -l 'html' -d 'Print one HTML file with pictures, for a browser or a printer.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" csv' -l 'csv' -d 'Print a table for spreadsheets, with a row for each figure.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" json' -l 'json' -d 'Print a JSON object.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" state' -l 'state' -d 'The directory of the history.' -rfa '(__reach_complete_directories)'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach report" -ge 1' -fka '(__reach_custom_completion ---completion report -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach report" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" json' -l 'json' -d 'Print a JSON object for each attempt, one per line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" timeout' -l 'timeout' -d 'How long an attempt may take; 5 seconds by default.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" interface' -l 'interface' -d 'Send only by this interface.' -rfka '(__reach_custom_completion ---completion probe -- --interface (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" socket' -l 'socket' -d 'Ask only the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach probe" -ge 1' -fka '(__reach_custom_completion ---completion probe -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" json' -l 'json' -d 'Print a JSON object for each probe, one per line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach probes" -ge 1' -fka '(__reach_custom_completion ---completion probes -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach hooks" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach hooks" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach hooks" -eq 1' -fa 'test' -d 'Run the hooks with an event that says that nothing has happened, and print what each did.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach hooks test" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach hooks test" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach hooks test" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'add' -d 'Add a request to the queue, and print its number when it is safely stored.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'import' -d 'Add the requests of curl commands, such as a browser copies, to the queue.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'list' -d 'List the requests that are on their way.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'show' -d 'Print the state of a request.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'explain' -d 'Explain why a request is not running, and what would start it.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'hold' -d 'Keep requests from starting until they are released; attempts that can be repeated end.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'release' -d 'Release held requests.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'cancel' -d 'End requests for good.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'retry' -d 'Send dead requests again.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'wait' -d 'Wait until a request is finished.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'result' -d 'Write the body of the answer to a finished request.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue" -eq 1' -fa 'top' -d 'Show the queue on the terminal as it changes, until q or Ctrl-C.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" X request' -s 'X' -l 'request' -d 'The method; by default GET, with -d or -F POST, with -T PUT.' -rfka 'GET HEAD POST PUT PATCH DELETE'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add"' -s 'H' -l 'header' -d 'A header; @FILE reads headers from a file, one on each line, and keeps them from the list of processes. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" A user-agent' -s 'A' -l 'user-agent' -d 'The value of the header User-Agent.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" u user' -s 'u' -l 'user' -d 'Basic credentials. Other users can see them in the list of processes; -H @FILE hides them.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add"' -s 'd' -l 'data' -l 'data-binary' -d 'The body, unchanged; @FILE reads it from a file, @- from standard input. Several are joined by &.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add"' -l 'data-raw' -d 'As -d, but @ has no meaning. Follows all -d.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add"' -l 'data-urlencode' -d 'As -d, percent-encoded: TEXT, NAME=TEXT, @FILE or NAME@FILE. Follows all -d and --data-raw.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" G get' -s 'G' -l 'get' -d 'Append the data to the URL\'s query instead.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add"' -s 'F' -l 'form' -d 'A part of a multipart/form-data body: NAME=TEXT, NAME=@FILE or NAME=<FILE, with ;type=TYPE or ;filename=NAME after the file. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" T upload-file' -s 'T' -l 'upload-file' -d 'Send this file as the body; - is standard input.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" proxy x' -s 'x' -l 'proxy' -d 'Send through this proxy: http://, socks5:// or socks5h:// with HOST:PORT, or none; otherwise as reach.toml(5) says.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" retry' -l 'retry' -d 'Retry so many times: the same as --max-attempts with one more.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" L location' -s 'L' -l 'location' -d 'Follow redirects, up to 20. Credentials are sent to the server that they were given for only.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" compressed' -l 'compressed' -d 'Let the server compress the answer; it is stored unpacked.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" when' -l 'when' -d 'Send only when this holds: a condition of "reach wait" other than not-reachable, such as wifi, "not wwan", unmetered or validated, or several with commas between them.' -rfka '(__reach_custom_completion ---completion queue add -- --when (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" priority' -l 'priority' -d 'The priority: urgent, high, normal, low, or 0 to 3.' -rfka 'urgent high normal low'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" expires' -l 'expires' -d 'Give the request up if it is not finished after this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" key' -l 'key' -d 'A name for the work that the request does; see --mode.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" mode' -l 'mode' -d 'What to do if unfinished requests have the same key: keep, replace, append, append-or-replace or coalesce.' -rfka 'keep replace append append-or-replace coalesce'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" order' -l 'order' -d 'Send requests with the same name one after the other.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" depends' -l 'depends' -d 'With --order: give the request up if the previous one died or was cancelled.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" idempotency-key' -l 'idempotency-key' -d 'The value of the header Idempotency-Key.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" max-attempts' -l 'max-attempts' -d 'Give the request up after this many failures; failures of the network do not count.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" strict' -l 'strict' -d 'End an attempt when --when no longer holds, even if its path still works.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" upload-protocol' -l 'upload-protocol' -d 'Resume the upload if the server has a part of the body already. The only protocol is tus; the URL creates uploads, or with -X PATCH is an upload.' -rfka 'tus'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add"' -l 'accept' -d 'A status that counts as success, or a range such as 200-204. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" o output' -s 'o' -l 'output' -d 'Wait for the answer, and write its body to this file. With - the body goes to standard output, and the number to standard error.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" dry-run' -l 'dry-run' -d 'Print the request, and do not add it.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue add" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" when' -l 'when' -d 'Send only when this holds: a condition of "reach wait" other than not-reachable, such as wifi, "not wwan", unmetered or validated, or several with commas between them.' -rfka '(__reach_custom_completion ---completion queue import -- --when (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" priority' -l 'priority' -d 'The priority: urgent, high, normal, low, or 0 to 3.' -rfka 'urgent high normal low'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" expires' -l 'expires' -d 'Give the request up if it is not finished after this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" key' -l 'key' -d 'A name for the work that the request does; see --mode.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" mode' -l 'mode' -d 'What to do if unfinished requests have the same key: keep, replace, append, append-or-replace or coalesce.' -rfka 'keep replace append append-or-replace coalesce'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" order' -l 'order' -d 'Send requests with the same name one after the other.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" depends' -l 'depends' -d 'With --order: give the request up if the previous one died or was cancelled.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" idempotency-key' -l 'idempotency-key' -d 'The value of the header Idempotency-Key.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" max-attempts' -l 'max-attempts' -d 'Give the request up after this many failures; failures of the network do not count.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" strict' -l 'strict' -d 'End an attempt when --when no longer holds, even if its path still works.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" upload-protocol' -l 'upload-protocol' -d 'Resume the upload if the server has a part of the body already. The only protocol is tus; the URL creates uploads, or with -X PATCH is an upload.' -rfka 'tus'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import"' -l 'accept' -d 'A status that counts as success, or a range such as 200-204. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" dry-run' -l 'dry-run' -d 'Print the requests, and add none.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue import" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue list"' -l 'state' -d 'Only requests in this state. May be given several times.' -rfka 'new held waiting backoff ready running lingering done dead cancelled'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue list" a all' -s 'a' -l 'all' -d 'Also list the requests that are over.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue list" limit' -l 'limit' -d 'List at most so many.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue list" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue list" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue list" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue show" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue show" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue show" -eq 1' -fka '(__reach_custom_completion ---completion queue show -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue show" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue explain" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue explain" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue explain" -eq 1' -fka '(__reach_custom_completion ---completion queue explain -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue explain" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue explain" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue hold" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue hold" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue hold" all' -l 'all' -d 'All requests: those of the user; for root, those of all users.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue hold" -ge 1' -fka '(__reach_custom_completion ---completion queue hold -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue hold" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue hold" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue release" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue release" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue release" all' -l 'all' -d 'All requests: those of the user; for root, those of all users.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue release" fleet' -l 'fleet' -d 'Release what the fleet holds, which may hold it again. Only for root and the fleet\'s agent.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue release" -ge 1' -fka '(__reach_custom_completion ---completion queue release -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue release" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue release" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue cancel" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue cancel" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue cancel" -ge 1' -fka '(__reach_custom_completion ---completion queue cancel -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue cancel" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue cancel" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue retry" reason' -l 'reason' -d 'With --all: only requests that died for this reason.' -rfka 'expired exhausted refused auth untrusted pin invalid redirects unreadable quota file indeterminate dependency'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue retry" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue retry" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue retry" all' -l 'all' -d 'All requests: those of the user; for root, those of all users.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue retry" -ge 1' -fka '(__reach_custom_completion ---completion queue retry -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue retry" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue retry" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue wait" timeout' -l 'timeout' -d 'Stop waiting after this long; the request continues.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue wait" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue wait" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue wait" -eq 1' -fka '(__reach_custom_completion ---completion queue wait -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue wait" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue wait" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue result" o output' -s 'o' -l 'output' -d 'Write the body to this file instead of standard output.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue result" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue result" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach queue result" -eq 1' -fka '(__reach_custom_completion ---completion queue result -- positional@0 (count (__reach_tokens -pc)) (__reach_tokens -tC))'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue result" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue result" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue top" socket' -l 'socket' -d 'Ask the daemon that listens on this socket.' -rF
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue top" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue top" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach queue top" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach schema" -eq 1' -fka 'status watch links explain history report probe probes queue fleet'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach schema" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach schema" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach fleet" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach fleet" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach help" version' -l 'version' -d 'Show the version.'
