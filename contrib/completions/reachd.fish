function __reachd_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __reachd_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __reachd_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __reachd_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __reachd_parse_tokens -S
    set -l unparsed_tokens (__reachd_tokens -pc)
    switch $unparsed_tokens[1]
    case 'reachd'
        __reachd_parse_subcommand 0 'config=' 'socket=' 'state=' 'events' 'check-config' 'dump-config' 'policy' 'probe=' 'diagnose=' 'interface=' 'timeout=' 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'help'
            __reachd_parse_subcommand -r 1 'version'
        end
    end
end

function __reachd_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __reachd_parse_subcommand -S -a positional_count
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

function __reachd_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __reachd_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__reachd_tokens -p)
    if test -z "$(__reachd_tokens -t)"
        set -l index (count (__reachd_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'reachd' -f
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" config' -l 'config' -d 'The configuration file.' -rF
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" socket' -l 'socket' -d 'The path of the control socket.' -rF
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" state' -l 'state' -d 'The directory of the event history and the queue.' -rfa '(__reachd_complete_directories)'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" events' -l 'events' -d 'Print the events of the Internet and of the queue on standard output.'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" check-config' -l 'check-config' -d 'Check the configuration, and exit.'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" dump-config' -l 'dump-config' -d 'Print the configuration with all defaults as TOML, and exit.'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" policy' -l 'policy' -d 'Print what the configuration says of links and networks as a line of JSON, and exit.'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" probe' -l 'probe' -d 'Make one attempt, print its result as "reach probe --json" does, and exit.' -rfka ''
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" diagnose' -l 'diagnose' -d 'Test the way to a target layer by layer, print the result as "reach explain --probe --json" does, and exit.' -rfka ''
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" interface' -l 'interface' -d 'With --probe: send over this interface only.' -rfka '(__reachd_custom_completion ---completion -- --interface (count (__reachd_tokens -pc)) (__reachd_tokens -tC))'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" timeout' -l 'timeout' -d 'With --probe: how long the attempt may take.' -rfka ''
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" version' -l 'version' -d 'Show the version.'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_positional "reachd" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'reachd' -n '__reachd_should_offer_completions_for_flags_or_options "reachd help" version' -l 'version' -d 'Show the version.'
