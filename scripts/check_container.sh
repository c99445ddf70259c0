#!/bin/bash
# Builds the Containerfile with podman or buildah where these can fetch its base; else does its steps in a root of its own.
# Then trains in it, as its user, and plays the examples for orchestrators. Needs root and the packages of `make deb`.
#   check_container.sh
set -euo pipefail
cd "$(dirname "$0")/.."
ls build/packages/dasgd_*.deb >/dev/null
for builder in podman buildah; do
  command -v $builder >/dev/null || continue
  if $builder build -q -t dasgd-check . >/dev/null 2>&1; then
    echo "built by $builder"
    [ $builder = podman ] && podman run --rm dasgd-check train --model quadratic --workers 2 --total-gradients 100 --quiet --out /runs/a
    exit 0
  fi
  echo "$builder cannot build here; the steps are done in a root instead"
done

root=$(mktemp -d /var/tmp/dasgd-container.XXXXXX)
trap 'umount "$root/proc" "$root/sys" "$root/dev" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true) | grep -v '^#' |
  mmdebstrap --quiet --variant=apt --dpkgopt=force-unsafe-io --include=ca-certificates --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$root" -
for system in proc sys dev; do mount --bind "/$system" "$root/$system"; done
before=$(du -smx "$root" | cut -f1)
user=root directory=/
inside() { chroot --userspec="$user" "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/$user \
  DEBIAN_FRONTEND=noninteractive sh -euc "cd $directory; $1"; }
while read -r instruction words; do
  case $instruction in
    COPY) set -- $words; eval "to=\${$#}"; mkdir -p "$root$to"; cp "${@:1:$#-1}" "$root$to" ;;
    RUN) inside "$words" >"$root/tmp/run.log" 2>&1 || { cat "$root/tmp/run.log"; exit 1; }; rm "$root/tmp/run.log" ;;
    USER) user=$words ;;
    WORKDIR) directory=$words ;;
  esac
done < <(sed -e ':a;/\\$/{N;s/\\\n//;ba}' Containerfile)
echo "size: $(du -smx "$root" | cut -f1) MB, of which the base is $before MB"
inside "id -un; dasgd --version; dasgd train --model quadratic --workers 2 --total-gradients 100 --quiet --out a && test -s a/model.npy"
inside "i=0; while [ \$i -lt 60 ]; do echo \$i,\$((i % 7)),\$((i % 2)); i=\$((i + 1)); done >t.csv; dasgd train --model mlp --data t.csv --workers 2 --total-gradients 20 --quiet --out b && test -s b/model.pt"
inside "mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none -n 2 dasgd train --model quadratic --total-gradients 50 --quiet --out c && test -s c/summary.json"
echo "trains as user $user: a linear model, a network, on ranks"

# What the examples for orchestrators run: a process for each container, one that begins and two that join.
echo "127.0.0.1 localhost first dasgd-first" >>"$root/etc/hosts"
for example in packaging/compose.yml packaging/kubernetes/run.yaml; do
  rm -rf "$root/tmp/commands" "$root"/runs/*
  python3 scripts/container_commands.py "$example" "$root/tmp/commands"
  inside 'pids= n=0
    for script in /tmp/commands/*first /tmp/commands/*more /tmp/commands/*more; do n=$((n + 1)); HOSTNAME=pod$n sh "$script" >/dev/null & pids="$pids $!"; done
    for pid in $pids; do wait "$pid"; done
    dasgd check /runs/*'
  echo "$example: three members"
done
