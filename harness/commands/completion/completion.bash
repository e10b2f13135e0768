# Sets cur to the word at the cursor and words to those before it. Readline cuts words at ':' and '=',
# which targets and --option=value have: pieces without a blank between them are one word.
_halcyon_line() {
    local rest=$COMP_LINE piece i all=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        piece=${COMP_WORDS[i]}
        if [[ $i -eq 0 || $rest == [[:blank:]]* ]]; then
            all+=("$piece")
        else
            all[${#all[@]} - 1]+=$piece
        fi
        rest=${rest#"${rest%%[![:blank:]]*}"}
        rest=${rest#"$piece"}
    done
    cur=${all[${#all[@]} - 1]}
    words=("${all[@]:0:${#all[@]} - 1}")
}

# Offers those of the words $2 that begin with $cur when each follows $1; the rest of the arguments
# are further words, after which no blank is written.
_halcyon_offer() {
    local before=$1 word
    for word in $2; do
        [[ $before$word == "$cur"* ]] && COMPREPLY+=("$before$word")
    done
    for word in "${@:3}"; do
        [[ $before$word == "$cur"* ]] && COMPREPLY+=("$before$word") && compopt -o nospace
    done
}

# Offers files whose names follow $1.
_halcyon_files() {
    local name
    compopt -o filenames
    while IFS= read -r name; do
        COMPREPLY+=("$1$name")
    done < <(compgen -f -- "${cur#"$1"}")
}

_halcyon_target() {
    case $cur in
    *[?\&]fault=*) _halcyon_offer "${cur%fault=*}fault=" "$(_halcyon_words fault)" ;;
    *[?\&]hal=*) _halcyon_offer "${cur%hal=*}hal=" "$(_halcyon_words hal)" ;;
    sim:*[?\&]*)
        local option=${cur##*[?&]}
        _halcyon_offer "${cur%"$option"}" realtime fault= hal=
        ;;
    lib:*) _halcyon_files lib: ;;
    sl:*) _halcyon_files sl: ;;
    rt:*) _halcyon_files rt: ;;
    unix:*) _halcyon_files unix: ;;
    *)
        _halcyon_offer '' "$(_halcyon_words target)" lib: sl: rt: unix:
        [[ $cur == sim:?* && ${#COMPREPLY[@]} -eq 0 ]] && _halcyon_files sim:
        ;;
    esac
}

_halcyon_kind() {
    case $1 in
    any | '') ;;
    file) _halcyon_files '' ;;
    target) _halcyon_target ;;
    operations | type | tag)
        local before=
        [[ $cur == *,* ]] && before=${cur%,*},
        _halcyon_offer "$before" "$(_halcyon_words "$1")"
        ;;
    *) _halcyon_offer '' "$(_halcyon_words "$1")" ;;
    esac
}

_halcyon() {
    local cur words before last command quote=
    COMPREPLY=()
    _halcyon_line
    case $cur in [\'\"]*) quote=${cur:0:1} cur=${cur:1} ;; esac
    command=${words[1]-}
    last=${words[${#words[@]} - 1]}
    if [[ ${#words[@]} -eq 1 ]]; then
        _halcyon_offer '' "$(_halcyon_words command) --version --help"
    elif [[ $cur == --*=* ]]; then
        before=${cur%%=*}
        cur=${cur#*=}
        _halcyon_kind "$(_halcyon_value "$command" "$before")"
        COMPREPLY=("${COMPREPLY[@]/#/$before=}")
        cur=$before=$cur
    elif [[ -n $(_halcyon_value "$command" "$last") ]]; then
        _halcyon_kind "$(_halcyon_value "$command" "$last")"
    elif [[ $cur == -* ]]; then
        _halcyon_offer '' "$(_halcyon_options "$command")"
    else
        _halcyon_kind "$(_halcyon_argument "$command")"
    fi
    # Readline replaces only what follows the last ':' or '=' of a word without quotes.
    local breaks=${COMP_WORDBREAKS//[^:=]/}
    if [[ -z $quote && -n $breaks ]]; then
        before=${cur%"${cur##*[$breaks]}"}
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
}

complete -F _halcyon halcyon
