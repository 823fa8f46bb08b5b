# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
#
# Completion for sandboxctl in bash. Turns come from the bus; who may not list them gets none. It needs no function of
# the package bash-completion.

_sandboxctl_turns () {
  sandboxctl --no-ask-password --no-legend turns 2>/dev/null | cut -d ' ' -f 1
}

_sandboxctl () {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local verb='' i words=''
  local verbs="status on off run turns cancel log tools check image purge cleanup"
  local options="--host= --socket= --json= --no-legend --no-pager --no-ask-password --speaker-id= --speaker-name= --principal=
    --timeout= --lines= --follow --watch --no-turn --dry-run --version --help"
  COMPREPLY=()

  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      -H | --host | --socket | --speaker-id | --speaker-name | --principal | --timeout | -n | --lines) ((i++)) ;;
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
    --speaker-id | --speaker-name | --principal | --timeout | -n | --lines) return ;;
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
}

complete -F _sandboxctl sandboxctl
