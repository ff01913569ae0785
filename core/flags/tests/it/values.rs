//! Values on the command line, in the environment, and defaults.

use crate::{MIB, line, message, parse};
use gclab_core::config::{Breakdown, Compact, FromGeneration, HeapHint, Restrictions};
use gclab_core::stats::StatsLevel;
use gclab_core::words::{Addr, Bytes};
use gclab_flags::{Flags, split};
use std::collections::BTreeSet;

#[test]
fn command_lines_are_split_as_ghc_does() {
    let cases = [
        ("-f +RTS -H32m -S -RTS -h foo bar", "-f -h foo bar", "-H32m -S"),
        ("hls -ltr /usr/etc +RTS -A5m", "hls -ltr /usr/etc", "-A5m"),
        ("a +RTS -A1m -RTS b +RTS -s -RTS c", "a b c", "-A1m -s"),
        ("a +RTS -A1m --RTS +RTS -s -RTS", "a -- +RTS -s -RTS", "-A1m"),
        ("a 6 --RTS --collector b", "a 6 -- --collector b", ""),
        ("a -- +RTS -s", "a -- +RTS -s", ""),
        ("a +RTS -s -- -RTS b", "a -- -RTS b", "-s"),
        ("-RTS a", "a", ""),
        ("", "", ""),
    ];
    for (all, program, rts) in cases {
        let split = split(line(all));
        assert_eq!((split.program, split.rts), (line(program), line(rts)), "{all}");
    }
}

#[test]
fn addresses_are_hexadecimal_with_or_without_their_mark() {
    for word in ["-xm4200000000", "-xm0x4200000000"] {
        assert_eq!(parse(word).config.map_near, Some(Addr(0x42_0000_0000)), "{word}");
    }
    assert_eq!(parse("-xm20000000 --no-xm").config.map_near, None);
}

#[test]
fn values_reach_their_fields() {
    let f = parse(
        "-A64m -n0.5m -AL2m -F1.5 -O512k -G3 -H100m -M1g -m5% -c40 -N4 -qg1 -qb -qn2 -DS -DZ7 -xr4g --no-huge-pages",
    );
    assert_eq!(f.config.allocation_area, Bytes(64 * MIB));
    assert_eq!(f.config.chunk, Some(Bytes(MIB / 2)));
    assert_eq!(
        (f.config.large_area, f.config.large_limit()),
        (Some(Bytes(2 * MIB)), Bytes(2 * MIB))
    );
    assert_eq!(
        (f.config.old_factor, f.config.old_min, f.config.generations),
        (1.5, Bytes(MIB / 2), 3)
    );
    assert_eq!(
        (f.config.heap_hint, f.config.max_heap, f.config.min_free),
        (HeapHint::Size(Bytes(100 * MIB)), Some(Bytes(1 << 30)), 5.0)
    );
    assert_eq!(
        (f.config.compact, f.config.capabilities, f.config.gc_threads),
        (Compact::Above(40.0), 4, 2)
    );
    assert_eq!(
        (f.config.parallel_gc, f.config.load_balance),
        (FromGeneration::From(1), Some(FromGeneration::Off))
    );
    assert_eq!(
        (f.sanity, f.config.stress, f.config.reserve, f.config.huge_pages),
        (true, Some(7), Bytes(4 << 30), false)
    );
    let given: Vec<_> = "A n AL F O G H M m c N qg qb qn DS DZ xr -no-huge-pages"
        .split(' ')
        .collect();
    assert_eq!(
        f.given.into_keys().collect::<BTreeSet<_>>(),
        given.into_iter().collect()
    );
}

#[test]
fn bare_flags_mean_what_they_mean_in_ghc() {
    let f = parse("-H -c -N -qg -qb");
    assert_eq!(
        (f.config.heap_hint, f.config.compact),
        (HeapHint::Auto, Compact::Always)
    );
    assert_eq!(
        (f.config.parallel_gc, f.config.load_balance),
        (FromGeneration::Off, Some(FromGeneration::Off))
    );
    assert_eq!(f.config.capabilities as usize, num_cpus::get());
}

#[test]
fn load_is_balanced_by_the_work_at_hand_unless_a_generation_is_given() {
    for auto in ["", "-A64m", "-qb1 -qb=auto"] {
        let config = parse(auto).config;
        assert_eq!(
            (config.load_balance, config.balance_from()),
            (None, FromGeneration::From(0)),
            "{auto}"
        );
    }
    assert_eq!(parse("-qb2").config.balance_from(), FromGeneration::From(2));
    assert_eq!(parse("-qb").config.balance_from(), FromGeneration::Off);
}

#[test]
fn flags_imply_what_they_imply_in_ghc() {
    assert_eq!(parse("").config.chunk_size(), None);
    assert_eq!(parse("-A16m").config.chunk_size(), Some(Bytes(4 * MIB)));
    assert_eq!(parse("-A15m").config.chunk_size(), None);
    assert_eq!(parse("-A64m -n1m").config.chunk_size(), Some(Bytes(MIB)));
    assert_eq!(parse("-A64m -n0").config.chunk_size(), None);
    assert_eq!(parse("-A1m -n1m").config.chunk_size(), None);
    assert_eq!(parse("-n4m").config.chunk_size(), None);
    assert_eq!(parse("-A32m -qb1").config.balance_from(), FromGeneration::From(1));
    assert_eq!(parse("-M1g").config.compaction(), Compact::Above(30.0));
    assert_eq!(parse("-M1g -c").config.compaction(), Compact::Always);
    assert_eq!(parse("").config.compaction(), Compact::Never);
    assert_eq!(parse("-A64m -M8m").config.allocation_area, Bytes(8 * MIB));
}

#[test]
fn one_flag_of_a_heap_profile_shows_and_others_restrict() {
    let of = |text: &str| {
        let profile = parse(text).config.profile;
        (profile.breakdown, profile.only)
    };
    let names = |list: &str| line(&list.replace(',', " "));
    let only = |types: &str, descriptions: &str, retainers: &str| Restrictions {
        types: names(types),
        descriptions: names(descriptions),
        retainers: names(retainers),
        ..Restrictions::default()
    };
    assert_eq!(of(""), (None, only("", "", "")));
    assert_eq!(of("-h"), (Some(Breakdown::ClosureType), only("", "", "")));
    assert_eq!(
        of("-hT -hyNode,Tree"),
        (Some(Breakdown::ClosureType), only("Node,Tree", "", ""))
    );
    assert_eq!(of("-hy{Node,Tree}"), (Some(Breakdown::Type), only("Node,Tree", "", "")));
    assert_eq!(of("-hrmain -hy"), (Some(Breakdown::Type), only("", "", "main")));
    assert_eq!(
        of("-hbdrag,void"),
        (
            Some(Breakdown::Biography),
            Restrictions {
                biographies: names("drag,void"),
                ..Restrictions::default()
            }
        )
    );
    let sides = |text: &str| {
        let profile = parse(text).config.profile;
        (profile.follows_uses(), profile.follows_allocation())
    };
    assert_eq!(
        [
            "-hy",
            "-hr",
            "-hc",
            "-hb",
            "-hbuse -hy",
            "-hy -hCmain",
            "-hT -hcmain",
            "-ho"
        ]
        .map(sides),
        [
            (false, false),
            (false, true),
            (false, true),
            (true, false),
            (true, false),
            (false, true),
            (false, true),
            (false, false),
        ]
    );
    for several in [
        "-hcmain -hCmake -hbdrag -hb",
        "-hy -hyNode -hdCons",
        "-hy -hy",
        "-ho -hdCons",
    ] {
        let flags = parse(several);
        assert_eq!(
            parse(&flags.to_words().join(" ")).config.profile,
            flags.config.profile,
            "{several}"
        );
    }
    let profile = parse("-hr -i0 -R0 -L60").config.profile;
    assert_eq!((profile.interval, profile.retainers, profile.name_length), (0.0, 0, 60));
    let refused = [
        "-hT -hy",
        "-hyNode -hdCons",
        "-ho -hrCell",
        "-hyNode,",
        "-hTNode",
        "-hq",
        "-hbdrags",
        "-hb -hr",
        "-hbdrag -hrmain",
        "-hb -ho",
        "-hC",
        "-hCmain",
        "-i-1",
    ];
    insta::assert_snapshot!(refused.map(message).join("\n"));
}

#[test]
fn the_last_of_the_statistics_flags_wins() {
    let f = parse("-sa.txt -S -t");
    assert_eq!((f.stats.level, f.stats.file), (StatsLevel::OneLine, None));
    let f = parse("-T -Sdir/out.txt --machine-readable");
    assert_eq!((f.stats.level, f.stats.machine_readable), (StatsLevel::Each, true));
    assert_eq!(f.stats.file.as_deref(), Some("dir/out.txt".as_ref()));
}

#[test]
fn the_command_line_overrides_the_environment() {
    let f = Flags::parse(Some("  -A1m -G3 "), &["-A2m"]).unwrap();
    assert_eq!((f.config.allocation_area, f.config.generations), (Bytes(2 * MIB), 3));
    let error = Flags::parse(Some("-Aq"), &["-A2m"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "GCLABRTS: -A: q is not a size: write a number with k, m, g, t or w, as in -A4m"
    );
}
