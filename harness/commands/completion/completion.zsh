# Offers the words of the kind $1; the rest goes to compadd.
_halcyon_of() {
  local -a offered=(${=_halcyon_words[$1]})
  compadd "${@:2}" -a offered
}

_halcyon_file() { _files "$@" }
_halcyon_judge() { _halcyon_of judge "$@" }
_halcyon_format() { _halcyon_of format "$@" }
_halcyon_style() { _halcyon_of style "$@" }
_halcyon_preference() { _halcyon_of preference "$@" }
_halcyon_isolation() { _halcyon_of isolation "$@" }
_halcyon_shell() { _halcyon_of shell "$@" }
_halcyon_operation() { _halcyon_of operation "$@" }
_halcyon_operations() { _sequence -s , compadd - ${=_halcyon_words[operations]} }
_halcyon_type() { _sequence -s , compadd - ${=_halcyon_words[type]} }
_halcyon_tag() { _sequence -s , compadd - ${=_halcyon_words[tag]} }

_halcyon_target() {
  if compset -P '*[?&]fault='; then
    _halcyon_of fault "$@"
  elif compset -P '*[?&]hal='; then
    _halcyon_of hal "$@"
  elif compset -P 'sim:*[?&]'; then
    compadd "$@" realtime
    compadd "$@" -S '' fault= hal=
  elif compset -P 'lib:'; then
    _files -g '*.so'
  elif compset -P 'sl:'; then
    _files -g '*.so'
  elif compset -P 'rt:'; then
    _files
  elif compset -P 'unix:'; then
    _files
  elif [[ $PREFIX == sim:*[/.]* ]] && compset -P 'sim:'; then
    _files -g '*.toml'
  else
    _halcyon_of target "$@"
    compadd "$@" -S '' lib: sl: rt: unix:
  fi
}

_halcyon() {
  local curcontext=$curcontext state state_descr line ret=1
  local -a specs
  typeset -A opt_args

  _arguments -C \
    '(- *)--version[print the version]' \
    '(- *)'{-h,--help}'[list the commands]' \
    '1:command:_halcyon_command' \
    '*::argument:->argument' && ret=0
  if [[ $state == argument ]]; then
    _halcyon_options $words[1]
    _arguments -s $specs && ret=0
  fi
  return ret
}

_halcyon "$@"
