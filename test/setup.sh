# Sourced by the scripts that build: need COMMAND PACKAGE... installs packages (Debian, Ubuntu) where the command is
# missing, as root or through sudo.
need()
{
    command=$1
    shift
    command -v "$command" >/dev/null 2>&1 && return 0
    install_packages "$@"
    command -v "$command" >/dev/null 2>&1 || { echo "error: '$command' is missing after installing: $*" >&2; exit 1; }
}

install_packages()
{
    command -v apt-get >/dev/null 2>&1 || { echo "error: please install: $*" >&2; exit 1; }
    sudo=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || { echo "error: neither root nor sudo; please install: $*" >&2; exit 1; }
        sudo=sudo
    fi
    echo "installing $*"
    $sudo apt-get update -qq >/dev/null </dev/null
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null </dev/null
}

have_gpu()
{
    command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q GPU
}
