function __reach-fleet_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __reach-fleet_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __reach-fleet_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __reach-fleet_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __reach-fleet_parse_tokens -S
    set -l unparsed_tokens (__reach-fleet_tokens -pc)
    switch $unparsed_tokens[1]
    case 'reach-fleet'
        __reach-fleet_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'agent'
            __reach-fleet_parse_subcommand 0 'config=' 'socket=' 'runtime=' 'state=' 'check-config' 'version' 'h/help'
        case 'self'
            __reach-fleet_parse_subcommand 0 'config=' 'socket=' 'runtime=' 'show' 'json' 'version' 'h/help'
        case 'setup'
            __reach-fleet_parse_subcommand 0 'hosts=' 'replicas=' 'event-age=' 'event-bytes=' 'update' 'json' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'key'
            __reach-fleet_parse_subcommand 1 'new' 'print-seed' 'json' 'version' 'h/help'
        case 'config'
            __reach-fleet_parse_subcommand 0 'hosts=' 'admin=+' 'operator=+' 'reader=+' 'listen=' 'tls-certificate=' 'tls-key=' 'tls-client-ca=' 'store=' 'store-size=' 'name=' 'for=' 'json' 'version' 'h/help'
        case 'doctor'
            __reach-fleet_parse_subcommand 0 'json' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'status'
            __reach-fleet_parse_subcommand 0 'offline' 'json' 'where=+' 'class=' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'host'
            __reach-fleet_parse_subcommand 1 'events=' 'json' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'watch'
            __reach-fleet_parse_subcommand 0 'json' 'where=+' 'class=' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'events'
            __reach-fleet_parse_subcommand 0 'since=' 'host=' 'json' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'outages'
            __reach-fleet_parse_subcommand 0 'json' 'since=' 'within=' 'least=' 'by=' 'asn=' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'page'
            __reach-fleet_parse_subcommand 0 'output=' 'title=' 'interval=' 'since=' 'within=' 'least=' 'by=' 'asn=' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'export'
            __reach-fleet_parse_subcommand 1 'interval=' 'since=' 'within=' 'least=' 'by=' 'asn=' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'hold'
            __reach-fleet_parse_subcommand 0 'all' 'group=' 'host=' 'fraction=' 'rollout=' 'reason=' 'for=' 'wait=' 'json' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'release'
            __reach-fleet_parse_subcommand 0 'all' 'group=' 'host=' 'fraction=' 'rollout=' 'reason=' 'for=' 'wait=' 'json' 'server=+' 'key-file=' 'ca=' 'certificate=' 'certificate-key=' 'version' 'h/help'
        case 'help'
            __reach-fleet_parse_subcommand -r 1 'version'
        end
    end
end

function __reach-fleet_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __reach-fleet_parse_subcommand -S -a positional_count
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

function __reach-fleet_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __reach-fleet_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__reach-fleet_tokens -p)
    if test -z "$(__reach-fleet_tokens -t)"
        set -l index (count (__reach-fleet_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'reach-fleet' -f
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'agent' -d 'Report this host\'s events and state to the fleet, until SIGTERM.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'self' -d 'Show how this host\'s agent is, or the lines that leave the host.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'setup' -d 'Make the fleet\'s streams and buckets.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'key' -d 'Make a key, and print its public half.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'config' -d 'Print a configuration of nats-server for the fleet.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'doctor' -d 'Find what is wrong with the fleet and its servers.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'status' -d 'Print a line for each host: its word, since when, and why.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'host' -d 'Print all about one host: its state, its latest events, its connection, what is wanted of it.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'watch' -d 'Print what happens in the fleet from now on.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'events' -d 'Print what the hosts reported, in the order in which it arrived.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'outages' -d 'Print which hosts went away together, and what they have in common.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'page' -d 'Write the fleet as one HTML file, for any web server or a browser.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'export' -d 'Write the fleet\'s figures for node_exporter\'s textfile collector.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'hold' -d 'Hold the queues of hosts.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'release' -d 'Release the queues of hosts that `hold` holds.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_positional "reach-fleet" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet agent" config' -l 'config' -d 'The configuration; by default /etc/reach/reach-fleet.toml.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet agent" socket' -l 'socket' -d 'The daemon\'s control socket.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet agent" runtime' -l 'runtime' -d 'Where the agent says how it is; by default $RUNTIME_DIRECTORY or /run/reach-fleet.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet agent" state' -l 'state' -d 'Where it keeps what the engine acknowledged; by default $STATE_DIRECTORY or /var/lib/reach-fleet.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet agent" check-config' -l 'check-config' -d 'Check the configuration, and exit.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet agent" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet agent" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet self" config' -l 'config' -d 'The configuration; by default /etc/reach/reach-fleet.toml.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet self" socket' -l 'socket' -d 'The daemon\'s control socket.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet self" runtime' -l 'runtime' -d 'Where the agent says how it is; by default $RUNTIME_DIRECTORY or /run/reach-fleet.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet self" show' -l 'show' -d 'Print the events in the journal as they leave this host, by the configuration; nothing else ever does.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet self" json' -l 'json' -d 'Print JSON.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet self" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet self" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" hosts' -l 'hosts' -d 'The list of hosts, a line each: HOST KEY [GROUP ...].' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" replicas' -l 'replicas' -d 'Copies of each stream in a cluster: 1, or 3 to survive a server.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" event-age' -l 'event-age' -d 'How long events stay.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" event-bytes' -l 'event-bytes' -d 'The most bytes of events.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" update' -l 'update' -d 'Make what is there as strict as it should be.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" json' -l 'json' -d 'Print a JSON object for each stream, one a line.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet setup" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet key" new' -l 'new' -d 'Replace the key in FILE. The server knows the host no longer until its list has the new public half.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet key" print-seed' -l 'print-seed' -d 'Print the seed, too. Whoever sees it can act as its owner.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet key" json' -l 'json' -d 'Print a JSON object.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet key" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet key" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" hosts' -l 'hosts' -d 'The list of hosts, a line each: HOST KEY [GROUP ...].' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config"' -l 'admin' -d 'The key of who sets up. May be repeated.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config"' -l 'operator' -d 'The key of who looks, holds and releases. May be repeated.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config"' -l 'reader' -d 'The key of who looks. May be repeated.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" listen' -l 'listen' -d 'The address and port to listen on.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" tls-certificate' -l 'tls-certificate' -d 'The server\'s certificate.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" tls-key' -l 'tls-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" tls-client-ca' -l 'tls-client-ca' -d 'Authorities of clients\' certificates, which are then required.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" store' -l 'store' -d 'The folder of the streams.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" store-size' -l 'store-size' -d 'The most that streams may fill: 500MB, 20GB.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" name' -l 'name' -d 'The server\'s name.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" for' -l 'for' -d 'The version of nats-server that it is for.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" json' -l 'json' -d 'Print a JSON object with the text.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet config" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor" json' -l 'json' -d 'Print a JSON object for each finding, one a line.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet doctor" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" offline' -l 'offline' -d 'Only hosts that are not here: silent, left, unseen.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" json' -l 'json' -d 'Print a JSON object for each host, one a line.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status"' -l 'where' -d 'Only hosts with this label. May be repeated; all must match.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" class' -l 'class' -d 'Only hosts whose path uses this class of link.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" events' -l 'events' -d 'The most events to print, the latest.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" json' -l 'json' -d 'Print one JSON object.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet host" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" json' -l 'json' -d 'Print JSON, one object a line.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch"' -l 'where' -d 'Only hosts with this label. May be repeated; all must match.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" class' -l 'class' -d 'Only hosts whose path uses this class of link.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet watch" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" since' -l 'since' -d 'How far back to begin, by the time of arrival.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" host' -l 'host' -d 'Only this host.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" json' -l 'json' -d 'Print a JSON object for each event, one a line.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet events" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" json' -l 'json' -d 'Print a JSON object for each outage, one a line.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" since' -l 'since' -d 'How far back to look; a day by default, of which page and export first read the newest events only.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" within' -l 'within' -d 'The longest time between two departures of one outage.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" least' -l 'least' -d 'The fewest hosts of an outage. Of a label all hosts together are one from two on.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" by' -l 'by' -d 'What to compare, separated by commas: gateway, address, class, asn, or the name of a label. By default all.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" asn' -l 'asn' -d 'Autonomous systems: a file with lines PREFIX NUMBER [NAME]. No service is asked.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet outages" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" output' -l 'output' -d 'The file.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" title' -l 'title' -d 'What the page is called.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" interval' -l 'interval' -d 'Write it again this often, until a signal comes.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" since' -l 'since' -d 'How far back to look; a day by default, of which page and export first read the newest events only.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" within' -l 'within' -d 'The longest time between two departures of one outage.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" least' -l 'least' -d 'The fewest hosts of an outage. Of a label all hosts together are one from two on.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" by' -l 'by' -d 'What to compare, separated by commas: gateway, address, class, asn, or the name of a label. By default all.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" asn' -l 'asn' -d 'Autonomous systems: a file with lines PREFIX NUMBER [NAME]. No service is asked.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet page" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" interval' -l 'interval' -d 'Write it again this often, until a signal comes.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" since' -l 'since' -d 'How far back to look; a day by default, of which page and export first read the newest events only.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" within' -l 'within' -d 'The longest time between two departures of one outage.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" least' -l 'least' -d 'The fewest hosts of an outage. Of a label all hosts together are one from two on.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" by' -l 'by' -d 'What to compare, separated by commas: gateway, address, class, asn, or the name of a label. By default all.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" asn' -l 'asn' -d 'Autonomous systems: a file with lines PREFIX NUMBER [NAME]. No service is asked.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet export" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" all' -l 'all' -d 'All hosts.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" group' -l 'group' -d 'The hosts of a group.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" host' -l 'host' -d 'One host.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" fraction' -l 'fraction' -d 'Only this part of the hosts.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" rollout' -l 'rollout' -d 'The name of a rollout, by which hosts draw lots.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" reason' -l 'reason' -d 'Why, for people on the hosts.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" for' -l 'for' -d 'How long it is valid.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" wait' -l 'wait' -d 'Wait until the hosts have applied it, at most this long.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" json' -l 'json' -d 'Print a JSON object.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet hold" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" all' -l 'all' -d 'All hosts.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" group' -l 'group' -d 'The hosts of a group.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" host' -l 'host' -d 'One host.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" fraction' -l 'fraction' -d 'Only this part of the hosts.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" rollout' -l 'rollout' -d 'The name of a rollout, by which hosts draw lots.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" reason' -l 'reason' -d 'Why, for people on the hosts.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" for' -l 'for' -d 'How long it is valid.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" wait' -l 'wait' -d 'Wait until the hosts have applied it, at most this long.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" json' -l 'json' -d 'Print a JSON object.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release"' -l 'server' -d 'A server of the fleet: tls://HOST:PORT, or nats://HOST:PORT on this machine. May be repeated. By default those in REACH_FLEET_SERVER, separated by spaces.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" key-file' -l 'key-file' -d 'An nkey\'s seed or a .creds file; by default that in REACH_FLEET_KEY.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" ca' -l 'ca' -d 'Certificate authorities besides the system\'s; by default that in REACH_FLEET_CA.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" certificate' -l 'certificate' -d 'A client\'s certificate, with --certificate-key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" certificate-key' -l 'certificate-key' -d 'The certificate\'s key.' -rfka ''
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" version' -l 'version' -d 'Show the version.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet release" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'reach-fleet' -n '__reach-fleet_should_offer_completions_for_flags_or_options "reach-fleet help" version' -l 'version' -d 'Show the version.'
