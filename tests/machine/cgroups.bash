# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
#
# Control groups of a machine: one sub-group named $id in each hierarchy, nothing else of the host is touched.
#
# A host with cgroup v2 and systemd gives us a delegated scope of the same name instead. Without systemd, or with
# cgroup v1 (also the hybrid layout), we make the sub-groups ourselves and put nspawn into them before it starts,
# so that a machine sees only its own: two machines in one group would remove each other's units.
# Uses: $id (the machine's name on the host), die.

cgroups_top=/sys/fs/cgroup

cgroups_version () {
  case $(stat -f -c %T "$cgroups_top" 2>/dev/null) in
    cgroup2fs) echo 2 ;;
    tmpfs) echo 1 ;;
    *) die "there are no control groups at $cgroups_top: mount them (in a chroot: mount --rbind /sys)" ;;
  esac
}

cgroups_by_systemd () {
  [ "$(cgroups_version)" = 2 ] && [ -d /run/systemd/system ]
}

# The mount points of all hierarchies, by links once (cpu -> cpu,cpuacct).
cgroups_hierarchies () {
  if [ "$(cgroups_version)" = 2 ]; then
    echo "$cgroups_top"
    return
  fi
  local dir
  for dir in "$cgroups_top"/*/; do
    dir=${dir%/}
    [ ! -L "$dir" ] && [ -e "$dir/cgroup.procs" ] && echo "$dir"
  done
}

# Our sub-groups that exist now, wherever they are.
cgroups_ours () {
  local top
  for top in $(cgroups_hierarchies); do
    find "$top" -maxdepth 3 -type d \( -name "$id" -o -name "$id.scope" \) -prune -print 2>/dev/null
  done
}

# cgroups_make: makes the sub-groups. Nothing to do where systemd delegates a scope.
cgroups_make () {
  local top group
  ! cgroups_by_systemd || return 0
  for top in $(cgroups_hierarchies); do
    group=$top/$id
    mkdir -p "$group"
    case $top in
      */cpuset)
        cat "$top/cpuset.cpus" >"$group/cpuset.cpus"
        cat "$top/cpuset.mems" >"$group/cpuset.mems"
        ;;
      "$cgroups_top")
        # Fails where other processes sit in the top group of a container; then Docker's limits cannot work in the machine.
        sed 's/\(^\| \)\([a-z]\)/\1+\2/g' "$top/cgroup.controllers" >"$top/cgroup.subtree_control" 2>/dev/null ||
          echo "machine: no controllers below $top (processes in the top group?); limits inside will not hold" >&2
        ;;
    esac
  done
}

# cgroups_enter: puts the calling shell into the sub-groups.
cgroups_enter () {
  local top
  ! cgroups_by_systemd || return 0
  for top in $(cgroups_hierarchies); do
    echo "$BASHPID" >"$top/$id/cgroup.procs"
  done
}

# cgroups_join PID: puts the calling shell where PID is, a leaf inside the machine, so that what is run in a machine
# is accounted, seen and ended there.
cgroups_join () {
  local controllers path top
  while IFS=: read -r _ controllers path; do
    if [ -n "$controllers" ]; then
      top=$cgroups_top/${controllers#name=}
    elif [ "$(cgroups_version)" = 2 ]; then
      top=$cgroups_top
    else
      top=$cgroups_top/unified
    fi
    [ ! -e "$top$path/cgroup.procs" ] || echo "$BASHPID" >"$top$path/cgroup.procs"
  done <"/proc/$1/cgroup"
}

# cgroups_remove: ends every process still in our sub-groups and removes them. Safe to repeat.
cgroups_remove () {
  local group try
  for try in 1 2 3 4 5 6 7 8 9 10; do
    for group in $(cgroups_ours); do
      find "$group" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u | xargs -r kill -KILL 2>/dev/null || true
      find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
    [ -n "$(cgroups_ours)" ] || return 0
    # A killed task leaves its group a moment after the signal, and the kernel has no event for v1's groups.
    sleep 0.1
  done
  echo "machine: these control groups are still busy after $try tries:" >&2
  cgroups_ours >&2
  return 1
}
