//! The resident memory of programs smaller than gclab.

use super::{runs, with_script};

/// `dd` holds one block. gclab itself reads larger files before the first run.
#[test]
fn a_small_program_has_the_resident_memory_of_its_own() {
    let bench = with_script("exec dd if=/dev/zero of=/dev/null bs=8M count=1");
    bench.write(
        "small.toml",
        "repeat = 3\n[[program]]\nname = \"small\"\ncommand = [\"./prog\"]\n",
    );
    let done = bench.gclab(&["run", "small.toml"]).exits(0);
    for run in runs(&bench, "small") {
        let bytes = run.max_rss_bytes.expect("a figure for each run");
        assert!((8 << 20..16 << 20).contains(&bytes), "{bytes}\n{}", done.all());
    }
}
