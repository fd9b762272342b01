#!/bin/sh
# Proves the README's two commands on machines that have nothing:
#
#     sh test/quality/fresh.sh [RELEASE ...]
#
# as root, of Debian's bookworm, trixie and sid and Ubuntu's noble if none is named. For each,
# debootstrap makes a root folder; the committed tree goes into it, under a path with what shells
# and regular expressions stumble over; there examples/quickstart.sh and test/run.sh run as root,
# twice each, then the course's first exercise, and run.sh as a user with neither root nor sudo.
# Prints a line a release and what its tests said; exit 1 if something failed. A release whose
# mirror does not answer is skipped. In the environment:
#   MIRROR        of Debian, http://deb.debian.org/debian
#   UBUNTU        the other mirror, http://archive.ubuntu.com/ubuntu
#   FRESH_SETUP   a script that gets each root folder as its argument before anything runs in it:
#                 proxies, certificates
#   FRESH_KEEP    not empty: the root folders stay
#   FRESH_FOLDER  where they go, /tmp/fastreduce-fresh
set -eu
top=$(CDPATH= cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "SKIP: debootstrap needs root"; exit 77; }
. "$top/test/setup.sh"
PATH=$PATH:/usr/sbin:/sbin
need debootstrap debootstrap
need git git
need wget wget
install_missing
folder=${FRESH_FOLDER:-/tmp/fastreduce-fresh}
mkdir -p "$folder"
[ $# -gt 0 ] || set -- bookworm trixie sid noble
place="it's a (dir) + more/fastreduce"

clean_up() # RELEASE...
{
    for one in "$@"; do
        for mounted in sys dev/pts dev/shm proc; do
            ! grep -q " $folder/$one/$mounted " /proc/mounts || umount -l "$folder/$one/$mounted"
        done
        # -l above: a test that was killed may still end; here: not across a
        # mount that is there all the same
        [ -n "${FRESH_KEEP:-}" ] || rm -rf --one-file-system "${folder:?}/$one"
    done
}
trap 'clean_up "$@"' EXIT
trap 'exit 1' INT TERM

# within ROOT USER COMMAND: in the checkout, with a clean environment; standard input is nobody
within()
{
    case $2 in root) home=/root ;; *) home=/home/$2 ;; esac
    chroot --userspec="$2:$2" "$1" env -i HOME="$home" LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        sh -c 'CDPATH= cd "$HOME/$1" && eval "$2"' sh "$place" "$3" < /dev/null
}

failed=0
for release in "$@"; do
    root=$folder/$release
    log=$folder/$release.log
    clean_up "$release"
    rm -rf --one-file-system "$root"
    mirror=${MIRROR:-http://deb.debian.org/debian}
    sections=main script=sid
    if [ "$release" = noble ]; then
        mirror=${UBUNTU:-http://archive.ubuntu.com/ubuntu}
        # Meson and Ninja are in universe; Debian 12's debootstrap knows older releases, made alike
        sections=main,universe script=gutsy
    fi
    if ! wget -q --spider --tries=2 --timeout=20 "$mirror/dists/$release/Release"; then
        echo "$release: SKIP: $mirror does not answer"
        continue
    fi
    if ! debootstrap --variant=minbase --components=$sections "$release" "$root" "$mirror" \
        $script > "$log" 2>&1; then
        echo "$release: FAIL: debootstrap: $(tail -n 1 "$log")"
        failed=1
        continue
    fi
    if [ ! -e "$root/dev/null" ]; then
        echo "$release: FAIL: debootstrap made no devices"
        failed=1
        continue
    fi
    mount -t proc proc "$root/proc"
    # what an installer writes, and debootstrap does not
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(uname -n)" > "$root/etc/hosts"
    mkdir -p "$root/dev/shm" "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm"
    # of its own: nothing of this machine's
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    ln -sf pts/ptmx "$root/dev/ptmx"
    mount -t sysfs -o ro sysfs "$root/sys"
    [ -z "${FRESH_SETUP:-}" ] || sh "$FRESH_SETUP" "$root" >> "$log" 2>&1
    chroot "$root" apt-get clean
    chroot "$root" useradd --create-home tester
    for home in root home/tester; do
        mkdir -p "$root/$home/$place"
        git -C "$top" archive HEAD | tar -x -C "$root/$home/$place"
    done
    chroot "$root" chown -R tester:tester /home/tester
    before=$(chroot "$root" dpkg-query -f '.\n' -W | wc -l)

    results=
    # step NAME USER COMMAND
    step()
    {
        status=0
        began=$(date +%s)
        within "$root" "$2" "$3" > "$log.step" 2>&1 || status=$?
        cat "$log.step" >> "$log"
        counts=$(tail -n 1 "$log.step" | grep ' passed' || true)
        word=$([ $status = 0 ] && echo ok || echo "FAIL ($status)")
        results="$results; $1: $word, $(($(date +%s) - began)) s${counts:+, $counts}"
        [ $status = 0 ] || { failed=1; tail -n 40 "$log.step"; }
    }
    step quickstart root "sh examples/quickstart.sh"
    step "again, compiled" root "sh examples/quickstart.sh"
    step tests root "sh test/run.sh"
    grep -E '^(installing|skip|FAIL)' "$log.step" || true
    step "again" root "sh test/run.sh"
    step "the course" root "sh examples/course/check.sh 1; [ \$? = 1 ]"
    packages=$(($(chroot "$root" dpkg-query -f '.\n' -W | wc -l) - before))
    bytes=$(cat "$root"/var/cache/apt/archives/*.deb | wc -c)
    step "tests as a user" tester "sh test/run.sh"
    rm -f "$log.step"
    compiler=$(chroot "$root" cc -dumpfullversion 2>/dev/null || echo '?')
    echo "$release: GCC $compiler, $packages packages, $((bytes / 1000000)) MB downloaded$results"
    clean_up "$release"
done
exit $failed
