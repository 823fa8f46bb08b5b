#!/bin/bash
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
#
# test-completion.bash SANDBOXCTL COMPLETION: bash completes what the program has, all of it and nothing else.
set -euo pipefail

ctl=$1
# shellcheck source=src/ctl/completion.bash
. "$2"

number=0 failed=0

# is WHAT GOT WANTED
is () {
  number=$((number + 1))
  if [ "$2" = "$3" ]; then
    echo "ok $number - $1"
  else
    echo "not ok $number - $1"
    printf '# got:    %s\n# wanted: %s\n' "${2//$'\n'/ }" "${3//$'\n'/ }"
    failed=1
  fi
}

# complete_line WORD…: what the last word, which may be empty, becomes.
complete_line () {
  COMP_WORDS=(sandboxctl "$@") COMP_CWORD=$# COMP_LINE="sandboxctl $*"
  COMP_POINT=${#COMP_LINE}
  COMPREPLY=()
  _sandboxctl
  printf '%s\n' "${COMPREPLY[@]}" | sort
}

# What a shell would run if it came near it.
marker=$(mktemp -u)
hostile="irc:\$(touch $marker) \`touch $marker\`"

# Stands for the program, which has no bus here.
sandboxctl () {
  case "$*" in
    *" turns") printf '%s\n' 'aa11  a:1  running' 'ab22  a:1  queued' ;;
    *" channels") printf '%s\n' 'discord:123                1  2' 'discord:456                0  0' "$hostile  0  0" ;;
  esac
}

help=$("$ctl" --help)
is "verbs" "$(complete_line '')" "$(sed -n '/^Verbs:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' <<<"$help" | sort)"
is "options" "$(complete_line --)" "$(sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\).*/\2/p' <<<"$help" | grep -v '^$' | sort)"
is "a begun verb" "$(complete_line ca)" "cancel"
is "turns" "$(complete_line cancel a)" "$(printf 'aa11\nab22')"
is "a begun turn" "$(complete_line --json=short cancel ab)" "ab22"
is "an option's value is no verb" "$(complete_line --timeout 5 tu)" "turns"
is "image" "$(complete_line image '')" "$(printf 'build\ncheck')"
is "nothing for a text" "$(complete_line run a:1 x)" ""
is "channels" "$(complete_line off disc)" "$(printf 'discord:123\ndiscord:456')"
# As bash splits it where it ends words at colons, and where it does not.
is "a channel behind its colon" "$(COMP_WORDBREAKS=': ' complete_line off discord:4)" "456"
is "a channel whole" "$(COMP_WORDBREAKS=' ' complete_line off discord:4)" "discord:456"
is "turns and channels" "$(complete_line log '')" "$(printf '%s\n' aa11 ab22 discord:123 discord:456 "$(printf %q "$hostile")" | sort)"
is "nothing of a name is run" "$(complete_line off irc:)$(ls "$marker" 2>/dev/null)" "$(printf %q "${hostile#irc:}")"
echo "1..$number"
exit "$failed"
