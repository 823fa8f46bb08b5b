# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
#
# Root file systems: made once by mmdebstrap, kept as tar in $state/cache, unpacked for each machine.
# Uses: $state (directory), deps_inside (tests/deps), die.

rootfs_suite () {
  case $1 in
    12) echo bookworm ;;
    13) echo trixie ;;
    *) die "there are machines of Debian 12 and 13, not of '$1'" ;;
  esac
}

# rootfs_make KIND SUITE PACKAGES: prints the path of the cached tar, and makes it where there is none. Its name holds a
# hash of the package list, so that a changed list makes a new one. A lock makes a second run wait, not make it too.
rootfs_make () {
  local kind=$1 suite=$2 packages tar
  packages=$(tr -s ' \n' ',' <<<"$3")
  packages=${packages%,}
  tar=$state/cache/$kind-$suite-$(sha256sum <<<"$packages" | cut -c1-12).tar
  mkdir -p "$state/cache"
  (
    flock 8
    [ ! -e "$tar" ] || exit 0
    echo "making a Debian root file system ($kind, $suite), once" >&2
    # What an older list made is of no more use.
    rm -rf --one-file-system "$state/cache/$kind-$suite"-*
    # It uses descriptors of its own by one digit, so the locks must not take these.
    # A virtual machine's initrd holds the drivers of its one disk; all that there are would boot slowly.
    # shellcheck disable=SC2016  # expanded by mmdebstrap
    if ! mmdebstrap --quiet --variant=minbase --include="$packages" \
        --essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/modules.d"
          echo MODULES=list >"$1/etc/initramfs-tools/conf.d/machine"
          printf "%s\\n" virtio_pci virtio_blk ext4 >"$1/usr/share/initramfs-tools/modules.d/machine"' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
        "$suite" "$tar.part.tar" ${ROUNDTABLE_MIRROR:+"$ROUNDTABLE_MIRROR"} \
        >"$state/cache/$kind-$suite.log" 2>&1 7>&- 8>&- 9>&-; then
      tail -n 20 "$state/cache/$kind-$suite.log" >&2
      die "mmdebstrap failed (above, and $state/cache/$kind-$suite.log); is a Debian mirror reachable?"
    fi
    mv "$tar.part.tar" "$tar"
  ) 8>"$state/cache/$kind-$suite.lock" || exit 1
  echo "$tar"
}

# rootfs_unpack VERSION ROOT NAME ONLINE VM: a new machine's files.
rootfs_unpack () {
  local version=$1 root=$2 name=$3 online=$4 vm=$5 suite tar
  suite=$(rootfs_suite "$version")
  if [ "$vm" = yes ]; then
    tar=$(rootfs_make vm "$suite" "$(deps_inside "$suite") $deps_inside_vm")
  else
    tar=$(rootfs_make machine "$suite" "$(deps_inside "$suite")")
  fi
  mkdir -p "$root"
  tar -C "$root" -xf "$tar"
  echo "$name" >"$root/etc/hostname"
  printf '127.0.0.1 localhost %s\n' "$name" >"$root/etc/hosts"
  # Their own hardware and time are the host's business; without these a machine would count as degraded.
  ln -sf /dev/null "$root/etc/systemd/system/systemd-networkd-wait-online.service"
  ln -sf /dev/null "$root/etc/systemd/system/e2scrub_reap.service"
  # mmdebstrap copies the host's; an --online machine gets it from nspawn when it boots.
  rm -f "$root/etc/resolv.conf"
  mkdir -p "$root/etc/docker"
  if [ "$online" = yes ]; then
    # The machine shares the host's network: its dockerd must leave the host's bridges and firewall alone.
    echo '{"exec-opts":["native.cgroupdriver=systemd"],"bridge":"none","iptables":false,"ip6tables":false,"ip-forward":false}'
  else
    echo '{"exec-opts":["native.cgroupdriver=systemd"]}'
  fi >"$root/etc/docker/daemon.json"
}
