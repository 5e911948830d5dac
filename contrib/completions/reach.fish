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
            __reach_parse_subcommand -r 1 'json' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'watch'
            __reach_parse_subcommand 1 'json' 'pretty' 'all' 'hold-up=' 'hold-down=' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'wait'
            __reach_parse_subcommand 1 'until=+' 'timeout=' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'run'
            __reach_parse_subcommand -r 1 'when=+' 'timeout=' 'target=' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'links'
            __reach_parse_subcommand -r 1 'json' 'all' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'explain'
            __reach_parse_subcommand 1 'json' 'socket=' 'no-daemon' 'anchor=+' 'mark=' 'class=+' 'metered=+' 'version' 'h/help'
        case 'history'
            __reach_parse_subcommand 1 'since=' 'json' 'state=' 'version' 'h/help'
        case 'probe'
            __reach_parse_subcommand -r 1 'json' 'timeout=' 'interface=' 'socket=' 'no-daemon' 'version' 'h/help'
        case 'probes'
            __reach_parse_subcommand -r 1 'json' 'socket=' 'version' 'h/help'
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
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'watch' -d 'Print the state of a target now, and every change from then on.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'wait' -d 'Wait until conditions hold.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'run' -d 'Wait until conditions hold, then become a command.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'links' -d 'Print the links of this machine and what each is.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'explain' -d 'Explain step by step why a target is reachable or not.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'history' -d 'Print what the daemon has seen: outages, flaps, and when.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'probe' -d 'Try whether something answers now, and how fast.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'probes' -d 'Print the probes that the daemon\'s configuration has, and how they fare.'
complete -c 'reach' -n '__reach_should_offer_completions_for_positional "reach" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" json' -l 'json' -d 'Print a JSON object for each target, one a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" socket' -l 'socket' -d 'Ask the daemon that listens there, and nobody else.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status"' -l 'class' -d 'Take interfaces whose name fits the pattern (* and ?) to be of this class. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status"' -l 'metered' -d 'Take interfaces whose name fits the pattern to be metered, or not. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" json' -l 'json' -d 'Print JSON, one object a line, also on a terminal.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" pretty' -l 'pretty' -d 'Print lines for people, also where there is no terminal.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" all' -l 'all' -d 'Print the kernel\'s notices of links, addresses, routes, rules and neighbours, too.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" hold-up' -l 'hold-up' -d 'Tell "reachable" only when it has lasted this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" hold-down' -l 'hold-down' -d 'Tell "not reachable" only when it has lasted this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" socket' -l 'socket' -d 'Ask the daemon that listens there, and nobody else.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch"' -l 'class' -d 'Take interfaces whose name fits the pattern (* and ?) to be of this class. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch"' -l 'metered' -d 'Take interfaces whose name fits the pattern to be metered, or not. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach watch" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'until' -d 'What to wait for; "reachable" if nothing is given. May be given several times: all must hold.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" timeout' -l 'timeout' -d 'Give up after this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" socket' -l 'socket' -d 'Ask the daemon that listens there, and nobody else.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'class' -d 'Take interfaces whose name fits the pattern (* and ?) to be of this class. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait"' -l 'metered' -d 'Take interfaces whose name fits the pattern to be metered, or not. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach wait" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'when' -d 'What to wait for. May be given several times: all must hold.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" timeout' -l 'timeout' -d 'Give up after this long.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" target' -l 'target' -d 'Whose state is meant; the Internet if nothing is given.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" socket' -l 'socket' -d 'Ask the daemon that listens there, and nobody else.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'class' -d 'Take interfaces whose name fits the pattern (* and ?) to be of this class. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run"' -l 'metered' -d 'Take interfaces whose name fits the pattern to be metered, or not. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach run" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" json' -l 'json' -d 'Print a JSON object for each link, one a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" all' -l 'all' -d 'Print virtual ports of bridges, and virtual links and tunnels that are down and have no address, too.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" socket' -l 'socket' -d 'Ask the daemon that listens there, and nobody else.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links"' -l 'class' -d 'Take interfaces whose name fits the pattern (* and ?) to be of this class. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links"' -l 'metered' -d 'Take interfaces whose name fits the pattern to be metered, or not. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach links" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" json' -l 'json' -d 'Print a JSON object.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" socket' -l 'socket' -d 'Ask the daemon that listens there, and nobody else.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain"' -l 'anchor' -d 'An address that stands for the Internet. May be given several times; replaces the built-in ones. Nothing is sent to it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" mark' -l 'mark' -d 'Look up paths for packets with this firewall mark.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain"' -l 'class' -d 'Take interfaces whose name fits the pattern (* and ?) to be of this class. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain"' -l 'metered' -d 'Take interfaces whose name fits the pattern to be metered, or not. May be given several times.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach explain" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" since' -l 'since' -d 'Begin this long ago; with the first record if nothing is given.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" json' -l 'json' -d 'Print a JSON object for each record, one a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" state' -l 'state' -d 'Where the daemon keeps it.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach history" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" json' -l 'json' -d 'Print a JSON object for each attempt, one a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" timeout' -l 'timeout' -d 'How long an attempt may take; 5 seconds if nothing is given.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" interface' -l 'interface' -d 'Send by this interface and no other.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" socket' -l 'socket' -d 'Ask the daemon that listens there, and nobody else.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" no-daemon' -l 'no-daemon' -d 'Ask the kernel, even if a daemon runs.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probe" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" json' -l 'json' -d 'Print a JSON object for each probe, one a line.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" socket' -l 'socket' -d 'Ask the daemon that listens there.' -rfka ''
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" version' -l 'version' -d 'Show the version.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach probes" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach' -n '__reach_should_offer_completions_for_flags_or_options "reach help" version' -l 'version' -d 'Show the version.'
