# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The roundtable-sandbox authors
#
# Virtual machines by QEMU: Debian's own kernel, cgroup v2, AppArmor. No network at all; commands go in over a serial port
# that an agent reads (agent), and its host end is $dir/port.
# Uses: $dir, $here, die, process_mark.
#
# Software emulation, unless ROUNDTABLE_KVM=yes: where virtualization is nested, /dev/kvm may be there and hang.

vm_running () {
  supervisor >/dev/null
}

# Puts the agent into the root file system, and makes the disk of it. The root is not needed after.
vm_disk () {
  local root=$dir/root unit=etc/systemd/system
  mkdir -p "$root/$unit/paths.target.wants"
  install -m 0755 "$here/vm/agent" "$root/usr/local/sbin/machine-agent"
  cat >"$root/$unit/machine-agent.service" <<'END'
[Unit]
Description=Commands from the host
[Service]
ExecStart=/usr/local/sbin/machine-agent
Restart=always
END
  cat >"$root/$unit/machine-agent.path" <<'END'
[Unit]
Description=The port to the host
[Path]
PathExists=/dev/virtio-ports/machine
END
  ln -sf ../machine-agent.path "$root/$unit/paths.target.wants/"
  echo virtio_console >"$root/etc/modules-load.d/machine.conf"
  # The console only takes what the kernel says.
  ln -sf /dev/null "$root/$unit/serial-getty@ttyS0.service"
  echo '/dev/vda / ext4 defaults 0 1' >"$root/etc/fstab"
  cp "$root"/boot/vmlinuz-* "$dir/vmlinuz"
  cp "$root"/boot/initrd.img-* "$dir/initrd"
  mke2fs -qq -t ext4 -d "$root" "$dir/disk" 3G
  # "known" is seen by the directory.
  rm -rf --one-file-system "$root"
  mkdir "$root"
}

vm_boot () {
  local -a accel=(-accel "tcg,thread=multi") cpu=(-cpu max)
  [ "${ROUNDTABLE_KVM:-no}" != yes ] || accel=(-accel kvm) cpu=(-cpu host)
  rm -f "$dir/port"
  (
    exec 9>&-
    exec setsid qemu-system-x86_64 "${accel[@]}" "${cpu[@]}" -smp 2 -m 3072 -nodefaults -display none -no-reboot -net none \
      -kernel "$dir/vmlinuz" -initrd "$dir/initrd" -append "console=ttyS0 root=/dev/vda rw panic=-1 mitigations=off quiet" \
      -drive "file=$dir/disk,if=virtio,format=raw,cache=unsafe" -device virtio-rng-pci -serial "file:$dir/console" \
      -device virtio-serial-pci -chardev "socket,id=port,path=$dir/port,server=on,wait=off" \
      -device virtserialport,chardev=port,name=machine
  ) </dev/null >"$dir/log" 2>&1 &
  process_mark $! >"$dir/supervisor" || true
  for _ in $(seq 100); do
    [ ! -S "$dir/port" ] || break
    supervisor >/dev/null || break
    sleep 0.1
  done
  # The agent answers when udev has found its port.
  vm_inside systemctl is-system-running --wait || true
}

# vm_inside COMMAND…: standard input is the command's, but not a terminal: it is read whole before.
vm_inside () {
  local input=/dev/null status=0
  if [ ! -t 0 ]; then
    input=$(mktemp "$dir/input.XXXXXX")
    cat >"$input"
  fi
  "$here/vm/call" "$dir/port" "$input" "${ROUNDTABLE_VM_TIMEOUT:-600}" "$@" || status=$?
  [ "$input" = /dev/null ] || rm -f "$input"
  return "$status"
}
