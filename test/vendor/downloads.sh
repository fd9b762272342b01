# Sourced after setup.sh by the tests of other toolkits and compilers, which keep what they download
# in $downloads. Each function says in $why what is missing.

# pypi FOLDER PACKAGE...: the include, lib, bin ... of NVIDIA's packages, in one folder
pypi()
{
    into=$1
    shift
    python3 -m pip --version >/dev/null 2>&1 || { why="no pip"; return 1; }
    python3 -m pip install --quiet --disable-pip-version-check --retries 1 --no-deps \
        --target "$into.pypi" "$@" 2>pip.log ||
        { why="pip can't install $*: $(grep -m 1 ERROR pip.log)"; return 1; }
    for part in "$into.pypi"/nvidia/*/; do cp -rlf "$part/." "$into" || return 1; done
    rm -rf "$into.pypi"
}

# debian_apt FOLDER SECTION RELEASE...: an apt that knows these releases of Debian, works in
# FOLDER.apt, and takes from the system's only the mirror. with_apt COMMAND... is done with it.
debian_apt()
{
    apt=$1.apt section=$2
    shift 2
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/$') ||
        { why="apt has no mirror of Debian here"; return 1; }
    key=$(ls /usr/share/keyrings/debian-archive-keyring.* 2>/dev/null | head -n 1)
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    for debian_release; do
        echo "deb [signed-by=$key] $mirror $debian_release $section"
    done > "$apt/sources.list"
    cat > "$apt/conf" <<CONF
Dir::Etc { SourceList "$apt/sources.list"; SourceParts "-"; };
Dir::Etc { Preferences "-"; PreferencesParts "-"; };
Dir::State { Lists "$apt/lists"; Status "/dev/null"; };
Dir::Cache "$apt";
APT::Sandbox::User "root";
CONF
    # a release that is no longer there need not matter
    with_apt apt-get -qq update > apt.log 2>&1 || true
}
with_apt() { (APT_CONFIG=$apt/conf && export APT_CONFIG && CDPATH= cd "$apt" && "$@"); }

# debian FOLDER RELEASE SECTION PACKAGE...: packages of a release of Debian, unpacked and not
# installed. Of nvidia-cuda-dev, 1.5 GB, what is used here.
debian()
{
    into=$1 debian_release=$2 section=$3
    shift 3
    debian_apt "$into" "$section" "$debian_release" || return 1
    if ! with_apt apt-get -qq download "$@" >> apt.log 2>&1; then
        why="no $* from Debian's $debian_release: $(grep -m 1 '^E:' apt.log)"
        return 1
    fi
    for package in "$apt"/*.deb; do
        case ${package##*/} in
        nvidia-cuda-dev_*) parts='--wildcards ./usr/include ./usr/lib/*/libcudart_static.a' ;;
        *) parts= ;;
        esac
        (set -f && dpkg-deb --fsys-tarfile "$package" | tar -x -C "$into" $parts) ||
            { why="${package##*/} can't be unpacked"; return 1; }
    done
    rm -rf "$apt"
}

# kept NAME FUNCTION ARGUMENT...: sets $kept to the folder of that name, which the function fills
# the first time
kept()
{
    kept=$downloads/$1
    shift
    [ ! -e "$kept/complete" ] || return 0
    rm -rf "$kept" "$kept.pypi" "$kept.apt"
    mkdir "$kept"
    "$@" || return 1
    touch "$kept/complete"
}
from_pypi() { pypi "$kept" "$@"; }
