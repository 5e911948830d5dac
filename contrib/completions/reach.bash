#!/bin/bash

__reach_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__reach_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__reach_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

# "compgen -W" would expand the values, which others may have chosen.
__reach_add_values() {
    local value
    while IFS='' read -r value; do
        if [[ -n "${value}" && "${value}" = "${cur}"* ]]; then
            [[ "${value}" = *[^[:alnum:]._:/@%+=,-]* ]] && printf -v value %q "${value}"
            COMPREPLY+=("${value}")
        fi
    done <<<"${1}"
}

__reach_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_reach() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=()
    __reach_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    status|watch|wait|run|links|explain|top|history|report|probe|probes|hooks|queue|schema|fleet|help)
        # Offer subcommand argument completions
        "_reach_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'status watch wait run links explain top history report probe probes hooks queue schema fleet help' -- "${cur}"))
        ;;
    esac
}

_reach_status() {
    repeating_flags=()
    non_repeating_flags=(--json --validated --no-daemon --version -h --help)
    repeating_options=(--anchor --class --metered)
    non_repeating_options=(--socket --mark)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    '--anchor')
        return
        ;;
    '--mark')
        return
        ;;
    '--class')
        __reach_add_values "$(__reach_custom_complete ---completion status -- --class "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--metered')
        __reach_add_values "$(__reach_custom_complete ---completion status -- --metered "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion status -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_watch() {
    repeating_flags=()
    non_repeating_flags=(--json --pretty --all --no-daemon --version -h --help)
    repeating_options=(--anchor --class --metered)
    non_repeating_options=(--hold-up --hold-down --socket --mark)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--hold-up')
        return
        ;;
    '--hold-down')
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    '--anchor')
        return
        ;;
    '--mark')
        return
        ;;
    '--class')
        __reach_add_values "$(__reach_custom_complete ---completion watch -- --class "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--metered')
        __reach_add_values "$(__reach_custom_complete ---completion watch -- --metered "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion watch -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_wait() {
    repeating_flags=()
    non_repeating_flags=(--no-daemon --version -h --help)
    repeating_options=(--until --anchor --class --metered)
    non_repeating_options=(--timeout --socket --mark)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--until')
        __reach_add_values "$(__reach_custom_complete ---completion wait -- --until "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--timeout')
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    '--anchor')
        return
        ;;
    '--mark')
        return
        ;;
    '--class')
        __reach_add_values "$(__reach_custom_complete ---completion wait -- --class "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--metered')
        __reach_add_values "$(__reach_custom_complete ---completion wait -- --metered "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion wait -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_run() {
    repeating_flags=()
    non_repeating_flags=(--no-daemon --version -h --help)
    repeating_options=(--when --anchor --class --metered)
    non_repeating_options=(--timeout --target --socket --mark)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--when')
        __reach_add_values "$(__reach_custom_complete ---completion run -- --when "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--timeout')
        return
        ;;
    '--target')
        __reach_add_values "$(__reach_custom_complete ---completion run -- --target "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    '--anchor')
        return
        ;;
    '--mark')
        return
        ;;
    '--class')
        __reach_add_values "$(__reach_custom_complete ---completion run -- --class "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--metered')
        __reach_add_values "$(__reach_custom_complete ---completion run -- --metered "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_links() {
    repeating_flags=()
    non_repeating_flags=(--json --all --no-daemon --version -h --help)
    repeating_options=(--anchor --class --metered)
    non_repeating_options=(--socket --mark)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    '--anchor')
        return
        ;;
    '--mark')
        return
        ;;
    '--class')
        __reach_add_values "$(__reach_custom_complete ---completion links -- --class "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--metered')
        __reach_add_values "$(__reach_custom_complete ---completion links -- --metered "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion links -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_explain() {
    repeating_flags=()
    non_repeating_flags=(--json --probe --no-daemon --version -h --help)
    repeating_options=(--anchor --class --metered)
    non_repeating_options=(--socket --mark)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    '--anchor')
        return
        ;;
    '--mark')
        return
        ;;
    '--class')
        __reach_add_values "$(__reach_custom_complete ---completion explain -- --class "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--metered')
        __reach_add_values "$(__reach_custom_complete ---completion explain -- --metered "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion explain -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_top() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac
}

_reach_history() {
    repeating_flags=()
    non_repeating_flags=(--json --events --version -h --help)
    repeating_options=(--type)
    non_repeating_options=(--since --state)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--since')
        return
        ;;
    '--type')
        __reach_add_completions -W 'started'$'\n''stopped'$'\n''snapshot'$'\n''change'$'\n''probe'$'\n''queue'$'\n''wake'
        return
        ;;
    '--state')
        __reach_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion history -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_report() {
    repeating_flags=()
    non_repeating_flags=(--html --csv --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--since --until --state)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--since')
        return
        ;;
    '--until')
        return
        ;;
    '--state')
        __reach_add_completions -d
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion report -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_probe() {
    repeating_flags=()
    non_repeating_flags=(--json --no-daemon --version -h --help)
    repeating_options=()
    non_repeating_options=(--timeout --interface --socket)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--timeout')
        return
        ;;
    '--interface')
        __reach_add_values "$(__reach_custom_complete ---completion probe -- --interface "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion probe -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_probes() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion probes -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_hooks() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __reach_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    test)
        # Offer subcommand argument completions
        "_reach_hooks_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'test' -- "${cur}"))
        ;;
    esac
}

_reach_hooks_test() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac
}

_reach_queue() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __reach_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    add|import|list|show|explain|hold|release|cancel|retry|wait|result|top)
        # Offer subcommand argument completions
        "_reach_queue_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'add import list show explain hold release cancel retry wait result top' -- "${cur}"))
        ;;
    esac
}

_reach_queue_add() {
    repeating_flags=()
    non_repeating_flags=(-G --get -L --location --compressed --depends --strict --dry-run --json --version -h --help)
    repeating_options=(-H --header -d --data --data-binary --data-raw --data-urlencode -F --form --accept)
    non_repeating_options=(-X --request -A --user-agent -u --user -T --upload-file -x --proxy --retry --when --priority --expires --key --mode --order --idempotency-key --max-attempts --upload-protocol -o --output --socket)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-X'|'--request')
        __reach_add_completions -W 'GET'$'\n''HEAD'$'\n''POST'$'\n''PUT'$'\n''PATCH'$'\n''DELETE'
        return
        ;;
    '-H'|'--header')
        return
        ;;
    '-A'|'--user-agent')
        return
        ;;
    '-u'|'--user')
        return
        ;;
    '-d'|'--data'|'--data-binary')
        return
        ;;
    '--data-raw')
        return
        ;;
    '--data-urlencode')
        return
        ;;
    '-F'|'--form')
        return
        ;;
    '-T'|'--upload-file')
        __reach_add_completions -f
        return
        ;;
    '-x'|'--proxy')
        return
        ;;
    '--retry')
        return
        ;;
    '--when')
        __reach_add_values "$(__reach_custom_complete ---completion queue add -- --when "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--priority')
        __reach_add_completions -W 'urgent'$'\n''high'$'\n''normal'$'\n''low'
        return
        ;;
    '--expires')
        return
        ;;
    '--key')
        return
        ;;
    '--mode')
        __reach_add_completions -W 'keep'$'\n''replace'$'\n''append'$'\n''append-or-replace'$'\n''coalesce'
        return
        ;;
    '--order')
        return
        ;;
    '--idempotency-key')
        return
        ;;
    '--max-attempts')
        return
        ;;
    '--upload-protocol')
        __reach_add_completions -W 'tus'
        return
        ;;
    '--accept')
        return
        ;;
    '-o'|'--output')
        __reach_add_completions -f
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac
}

_reach_queue_import() {
    repeating_flags=()
    non_repeating_flags=(--depends --strict --dry-run --json --version -h --help)
    repeating_options=(--accept)
    non_repeating_options=(--when --priority --expires --key --mode --order --idempotency-key --max-attempts --upload-protocol --socket)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--when')
        __reach_add_values "$(__reach_custom_complete ---completion queue import -- --when "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    '--priority')
        __reach_add_completions -W 'urgent'$'\n''high'$'\n''normal'$'\n''low'
        return
        ;;
    '--expires')
        return
        ;;
    '--key')
        return
        ;;
    '--mode')
        __reach_add_completions -W 'keep'$'\n''replace'$'\n''append'$'\n''append-or-replace'$'\n''coalesce'
        return
        ;;
    '--order')
        return
        ;;
    '--idempotency-key')
        return
        ;;
    '--max-attempts')
        return
        ;;
    '--upload-protocol')
        __reach_add_completions -W 'tus'
        return
        ;;
    '--accept')
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac
}

_reach_queue_list() {
    repeating_flags=()
    non_repeating_flags=(-a --all --json --version -h --help)
    repeating_options=(--state)
    non_repeating_options=(--limit --socket)
    __reach_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--state')
        __reach_add_completions -W 'new'$'\n''held'$'\n''waiting'$'\n''backoff'$'\n''ready'$'\n''running'$'\n''lingering'$'\n''done'$'\n''dead'$'\n''cancelled'
        return
        ;;
    '--limit')
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac
}

_reach_queue_show() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion queue show -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_explain() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion queue explain -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_hold() {
    repeating_flags=()
    non_repeating_flags=(--json --all --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion queue hold -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_release() {
    repeating_flags=()
    non_repeating_flags=(--json --all --fleet --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion queue release -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_cancel() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion queue cancel -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_retry() {
    repeating_flags=()
    non_repeating_flags=(--json --all --version -h --help)
    repeating_options=()
    non_repeating_options=(--reason --socket)
    __reach_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--reason')
        __reach_add_completions -W 'expired'$'\n''exhausted'$'\n''refused'$'\n''auth'$'\n''untrusted'$'\n''pin'$'\n''invalid'$'\n''redirects'$'\n''unreadable'$'\n''quota'$'\n''file'$'\n''indeterminate'$'\n''dependency'
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __reach_add_values "$(__reach_custom_complete ---completion queue retry -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_wait() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--timeout --socket)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--timeout')
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion queue wait -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_result() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(-o --output --socket)
    __reach_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '-o'|'--output')
        __reach_add_completions -f
        return
        ;;
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_values "$(__reach_custom_complete ---completion queue result -- positional@0 "${COMP_CWORD}" "$(__reach_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_reach_queue_top() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __reach_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __reach_add_completions -f
        return
        ;;
    esac
}

_reach_schema() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __reach_offer_flags_options 1

    # Offer positional completions
    case "${positional_number}" in
    1)
        __reach_add_completions -W 'status'$'\n''watch'$'\n''links'$'\n''explain'$'\n''history'$'\n''report'$'\n''probe'$'\n''probes'$'\n''queue'$'\n''fleet'
        return
        ;;
    esac
}

_reach_fleet() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __reach_offer_flags_options -1
}

_reach_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __reach_offer_flags_options -1
}

complete -o filenames -F _reach reach
