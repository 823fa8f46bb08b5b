# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
#
# Completion for sandboxctl in bash. Turns and channels come from the bus; who may not list them gets none. It needs no
# function of the package bash-completion.

_sandboxctl_turns () {
  sandboxctl --no-ask-password --no-legend turns 2>/dev/null | cut -d ' ' -f 1
}

# Without the columns of numbers behind them.
_sandboxctl_channels () {
  sandboxctl --no-ask-password --no-legend channels 2>/dev/null | sed 's/  *[0-9][0-9]*  *[0-9][0-9]*$//'
}

# A channel's name may hold anything but a line's end, and compgen would expand it: it is compared and quoted here. Readline
# ends words at colons, so what stands before the last one is on the line already.
_sandboxctl_complete_channels () {
  local line=${COMP_LINE:0:COMP_POINT} word channel
  word=${line##* }
  while IFS= read -r channel; do
    [[ $channel == "$word"* ]] || continue
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
      channel=${channel#"${word%"${word##*:}"}"}
    fi
    COMPREPLY+=("$(printf '%q' "$channel")")
  done < <(_sandboxctl_channels)
}

_sandboxctl () {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local verb='' i words=''
  local verbs="status channels on off run turns cancel fresh stats log tools check image reload purge cleanup"
  local options="--host= --socket= --json= --no-legend --no-pager --no-ask-password --speaker-id= --speaker-name= --principal=
    --timeout= --lines= --since= --until= --follow --watch --no-turn --dry-run --version --help"
  COMPREPLY=()

  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -H | --host | --socket | --speaker-id | --speaker-name | --principal | --timeout | -n | --lines | -S | --since | -U | --until) ((i++)) ;;
      -*) ;;
      *)
        verb=${COMP_WORDS[i]}
        break
        ;;
    esac
  done

  case $previous in
    -H | --host)
      mapfile -t COMPREPLY < <(compgen -A hostname -- "$current")
      return
      ;;
    --socket)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --speaker-id | --speaker-name | --principal | --timeout | -n | --lines | -S | --since | -U | --until) return ;;
  esac
  if [[ $current == -* ]]; then
    words=$options
  elif [ -z "$verb" ]; then
    words=$verbs
  else
    case $verb in
      cancel | log) words=$(_sandboxctl_turns) ;;
      image) words="build check" ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  case $current,$verb in
    -*) ;;
    *,status | *,on | *,off | *,run | *,fresh | *,stats | *,log | *,purge) _sandboxctl_complete_channels ;;
  esac
}

complete -F _sandboxctl sandboxctl
