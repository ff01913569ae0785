#!/usr/bin/env bash
# Builds the peers for which there is a compiler, into the workspace's target/peers. Names each missing compiler and its
# Debian package. The arguments choose peers: ghc ocaml java mmtk (default: all of these), and heap: two heap
# snapshots, which take a minute, and whippet: a clone of WHIPPET (its repository by default) with our programs on gclab.
# Ends with status 1 if one of them was not built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
out=$(cd ../.. && pwd)/target/peers
mkdir -p "$out"/{ghc,ocaml,java,heap}
missing=0

# $1: the compiler; $2: the peer; $3: the compiler's Debian package. The rest is the build command.
build() {
    if command -v "$1" > /dev/null; then
        echo "$2: building" >&2
        "${@:4}"
    else
        echo "$2: not built, there is no $1 (Debian: apt-get install $3)" >&2
        missing=1
    fi
}

ocaml() {
    # The compiler writes into its source's folder.
    cp ocaml/peers.ml "$out/ocaml/main.ml"
    (cd "$out/ocaml" && ocamlopt -O3 -unsafe -inline 200 -o peers main.ml 2> warnings)
    # The same with the instrumented runtime, for ocaml_events.py.
    (cd "$out/ocaml" && ocamlopt -O3 -unsafe -inline 200 -runtime-variant i -o peers-events main.ml 2> warnings)
}

whippet() {
    local clone=$out/whippet/clone
    [ -d "$clone" ] || git clone --quiet "${WHIPPET:-https://github.com/wingo/whippet}" "$clone"
    git -C "$clone" checkout --quiet 116d247
    make -s -C "$clone" bin/{quads,mt-gcbench}.{semi,generational-pcc,mmc,generational-mmc}
    cargo build --quiet --release --manifest-path whippet/Cargo.toml --target-dir "$out/whippet"
}

for peer in "${@:-ghc ocaml java mmtk}"; do
    for peer in $peer; do
        case $peer in
            ghc) build ghc ghc ghc ghc -v0 -O2 -rtsopts -threaded -outputdir "$out/ghc/objects" -o "$out/ghc/peers" haskell/Main.hs ;;
            ocaml) build ocamlopt ocaml ocaml-nox ocaml ;;
            java) build javac java openjdk-17-jdk-headless javac -d "$out/java" java/Peers.java ;;
            mmtk) build cargo mmtk "cargo, or better by rustup" cargo build --quiet --release --manifest-path mmtk/Cargo.toml --target-dir "$out/mmtk" ;;
            heap) build node heap nodejs node --max-old-space-size=8000 heap/snapshots.js "$out/heap" ;;
            whippet) build gcc whippet build-essential whippet ;;
            *) echo "build.sh: no peer is called $peer; there are ghc, ocaml, java, mmtk, heap and whippet" >&2; exit 2 ;;
        esac
    done
done
exit $missing
