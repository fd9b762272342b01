# Sourced by the scripts that build. They say with need and like what they use, and install_missing
# installs what is not there (Debian, Ubuntu), in one round, as root or through sudo.
needed= # packages without which nothing works
liked=  # packages without which something is skipped
commands=

# need COMMAND PACKAGE...
need()
{
    commands="$commands $1"
    command -v "$1" >/dev/null 2>&1 && return
    shift
    needed="$needed $*"
}

# like COMMAND PACKAGE...
like()
{
    command -v "$1" >/dev/null 2>&1 && return
    shift
    liked="$liked $*"
}

install_missing()
{
    [ -n "$needed$liked" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        go_without "no apt-get here; please install what these Debian packages hold:$needed$liked"
        return
    fi
    sudo=
    if [ "$(id -u)" != 0 ]; then
        # asks for a password only where there is somebody to type it
        if command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
            sudo=sudo
        else
            go_without "neither root nor sudo; please run: apt-get install$needed$liked"
            return
        fi
    fi
    [ -z "$sudo" ] || echo "asking sudo for:$needed$liked" # which may want a password
    log=$(mktemp)
    # one broken source need not matter: the packages may be had all the same
    $sudo apt-get update -qq </dev/null >"$log" 2>&1 || true
    wanted=$needed
    for package in $liked; do # one that this release lacks is to stop no other
        if apt-cache show --no-all-versions "$package" >/dev/null 2>&1; then
            wanted="$wanted $package"
        fi
    done
    if [ -n "$wanted" ]; then
        echo installing: $wanted"$(estimate $wanted)"
        apt_install $wanted ||
            { [ "$wanted" != "$needed" ] && [ -n "$needed" ] && apt_install $needed; } ||
            tail -n 5 "$log" >&2
    fi
    rm -f "$log"
    go_without "could not install all of:$needed$liked"
    needed=
    liked=
}

# estimate PACKAGE...: what apt-get says will be downloaded, in brackets; nothing if it does not say
estimate()
{
    LC_ALL=C apt-get install --print-uris --no-install-recommends "$@" </dev/null 2>/dev/null |
        sed -n 's,^Need to get \([0-9.]* [kMG]*B\).* of archives.*, (\1 to download,p
            s/^After this operation, \([0-9.]* [kMG]*B\) of additional.*/; \1 on the disk/p
            $s/.*/)/p' | tr -d '\n' | sed 's/^)$//'
}

# waits for another apt or dpkg that runs
apt_install()
{
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$log" 2>&1
}

# go_without SENTENCE: ends the script with it if a command is still missing
go_without()
{
    for command in $commands; do
        command -v "$command" >/dev/null 2>&1 && continue
        echo "error: no '$command': $1" >&2
        exit 1
    done
    # said once, of what is left over
    case $1 in could*) ;; *) echo "going on without: $1" ;; esac
}

have_gpu()
{
    command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q GPU
}
