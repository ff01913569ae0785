//! The workloads on MMTk, with the plan of the environment variable `MMTK_PLAN`:
//! `mmtk-peer WORKLOAD ARGS...`.
//!
//! The workloads are defined in the modules of `workloads/src`. With `GCSTAT` in the
//! environment a line of figures goes to standard error.

mod vm;
use hdrhistogram::Histogram;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use vm::*;

struct Rng(u64);
impl Rng {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E3779B97F4A7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
        z ^ (z >> 31)
    }
}
#[inline(always)]
fn mix(k: u64) -> u64 {
    Rng(k).next()
}

// ---- binary_trees
unsafe fn make(m: &mut M, d: usize) -> Ref {
    if d == 0 {
        return m.alloc(2, 16);
    }
    let l = make(m, d - 1);
    let ls = m.push(l);
    let r = make(m, d - 1);
    let rs = m.push(r);
    let n = m.alloc(2, 16);
    init_field(n, 0, *ls);
    init_field(n, 1, *rs);
    m.pop(2);
    n
}
unsafe fn check(t: Ref) -> u64 {
    let l = get(t, 0);
    if l == 0 {
        1
    } else {
        1 + check(l) + check(get(t, 1))
    }
}
unsafe fn binary_trees(m: &mut M, n: usize) -> u64 {
    let max = n.max(6);
    let mut c = check(make(m, max + 1));
    let t = make(m, max);
    let long = m.push(t);
    let mut d = 4;
    while d <= max {
        for _ in 0..1u64 << (max - d + 4) {
            c = c.wrapping_add(check(make(m, d)));
        }
        d += 2;
    }
    c = c.wrapping_add(check(*long));
    m.pop(1);
    c
}

// ---- gcbench
#[inline(always)]
unsafe fn gnode(m: &mut M) -> Ref {
    m.alloc(2, 32)
}
unsafe fn bottom_up(m: &mut M, d: i64) -> Ref {
    if d <= 0 {
        return gnode(m);
    }
    let l = bottom_up(m, d - 1);
    let ls = m.push(l);
    let r = bottom_up(m, d - 1);
    let rs = m.push(r);
    let n = gnode(m);
    init_field(n, 0, *ls);
    init_field(n, 1, *rs);
    m.pop(2);
    n
}
unsafe fn populate<const B: u8>(m: &mut M, d: i64, n: *mut Ref) {
    if d <= 0 {
        return;
    }
    let l = gnode(m);
    m.write::<B>(*n, 0, l);
    let r = gnode(m);
    m.write::<B>(*n, 1, r);
    let s = m.push(get(*n, 0));
    populate::<B>(m, d - 1, s);
    m.pop(1);
    let s = m.push(get(*n, 1));
    populate::<B>(m, d - 1, s);
    m.pop(1);
}
unsafe fn count(t: Ref) -> u64 {
    if t == 0 {
        0
    } else {
        1 + count(get(t, 0)) + count(get(t, 1))
    }
}
unsafe fn gcbench<const B: u8>(m: &mut M, stretch: i64, longd: i64, arr: usize) -> u64 {
    let ts = |d: i64| (1u64 << (d + 1)) - 1;
    std::hint::black_box(bottom_up(m, stretch));
    let n = gnode(m);
    let long = m.push(n);
    populate::<B>(m, longd, long);
    let a = m.alloc_big(0, arr * 8);
    let array = m.push(a);
    for k in 0..arr / 2 {
        *((*array + 8 + k * 8) as *mut f64) = 1.0 / (k as f64 + 1.0);
    }
    let mut k = 0u64;
    let mut d = 4;
    while d <= longd {
        let iters = 2 * ts(stretch) / ts(d);
        for _ in 0..iters {
            let t = gnode(m);
            let s = m.push(t);
            populate::<B>(m, d, s);
            m.pop(1);
        }
        for _ in 0..iters {
            std::hint::black_box(bottom_up(m, d));
        }
        k += 2 * iters;
        d += 2;
    }
    let mut c = count(*long);
    for i in 0..arr {
        if *((*array + 8 + i * 8) as *const f64) != 0.0 {
            c += 1;
        }
    }
    m.pop(2);
    c + k
}

// ---- long_list
unsafe fn long_list(m: &mut M, n: u64, churn: u64) -> u64 {
    let mut r = Rng(1);
    let keep = m.push(0);
    for _ in 0..n {
        let c = m.alloc(1, 16);
        init_field(c, 0, *keep);
        init_field(c, 1, r.next() as usize);
        *keep = c;
    }
    let mut c = 0u64;
    let l = m.push(0);
    for _ in 0..churn {
        *l = 0;
        for v in 0..10 {
            let x = m.alloc(1, 16);
            init_field(x, 0, *l);
            init_field(x, 1, v);
            *l = x;
        }
        let mut p = *l;
        while p != 0 {
            c = c.wrapping_add(get(p, 1) as u64);
            p = get(p, 0);
        }
    }
    *l = 0;
    let mut p = *keep;
    while p != 0 {
        c = c.wrapping_add(get(p, 1) as u64);
        p = get(p, 0);
    }
    m.pop(2);
    c
}

// ---- mut_array
unsafe fn mut_array<const B: u8>(m: &mut M, n: usize, u: u64) -> u64 {
    let mut r = Rng(2);
    let a = m.alloc_big(n, n * 8);
    let a = m.push(a);
    for k in 0..n {
        let b = m.alloc(0, 8);
        init_field(b, 0, k);
        m.write::<B>(*a, k, b);
    }
    for _ in 0..u {
        let i = (r.next() % n as u64) as usize;
        let v = r.next();
        let b = m.alloc(0, 8);
        init_field(b, 0, v as usize);
        m.write::<B>(*a, i, b);
    }
    let mut c = 0u64;
    for k in 0..n {
        c = c.wrapping_add(get(get(*a, k), 0) as u64);
    }
    m.pop(1);
    c
}

// ---- hash_churn: entry fields 0 = bytes, 1 = next, 2 = key (raw)
unsafe fn hash_churn<const B: u8>(m: &mut M, b: usize, k: u64, u: u64) -> u64 {
    let mut r = Rng(3);
    let t = m.alloc_big(b, b * 8);
    let t = m.push(t);
    for _ in 0..u {
        let key = r.next() % k;
        let bucket = (mix(key) % b as u64) as usize;
        let mut prev = 0;
        let mut e = get(*t, bucket);
        while e != 0 && get(e, 2) as u64 != key {
            prev = e;
            e = get(e, 1);
        }
        if e != 0 {
            let next = get(e, 1);
            if prev == 0 {
                m.write::<B>(*t, bucket, next);
            } else {
                m.write::<B>(prev, 1, next);
            }
        } else {
            let len = 16 + (key % 48) as usize;
            let bytes = m.alloc(0, len);
            std::ptr::write_bytes((bytes + 8) as *mut u8, (key % 256) as u8, len);
            let bs = m.push(bytes);
            let e = m.alloc(2, 24);
            init_field(e, 0, *bs);
            init_field(e, 1, get(*t, bucket));
            init_field(e, 2, key as usize);
            m.pop(1);
            m.write::<B>(*t, bucket, e);
        }
    }
    let mut c = 0u64;
    for i in 0..b {
        let mut e = get(*t, i);
        while e != 0 {
            let by = get(e, 0);
            c = c
                .wrapping_add(get(e, 2) as u64)
                .wrapping_add(byte_len(by) as u64)
                .wrapping_add(*((by + 8) as *const u8) as u64);
            e = get(e, 1);
        }
    }
    m.pop(1);
    c
}

// ---- message_window: node fields 0 left, 1 right, 2 message, 3 key, 4 priority
unsafe fn tnode(m: &mut M, l: *const Ref, r: *const Ref, msg: *const Ref, key: u64, pri: u64) -> Ref {
    let n = m.alloc(3, 40);
    init_field(n, 0, *l);
    init_field(n, 1, *r);
    init_field(n, 2, *msg);
    init_field(n, 3, key as usize);
    init_field(n, 4, pri as usize);
    n
}
/// copy of *t with child `side` replaced by *c
unsafe fn with_child(m: &mut M, t: *const Ref, side: usize, c: *const Ref) -> Ref {
    let n = m.alloc(3, 40);
    let o = *t;
    init_field(n, side, *c);
    init_field(n, 1 - side, get(o, 1 - side));
    init_field(n, 2, get(o, 2));
    init_field(n, 3, get(o, 3));
    init_field(n, 4, get(o, 4));
    n
}
/// split *t on key; results into *lo and *hi (root slots)
unsafe fn split(m: &mut M, t: Ref, key: u64, lo: *mut Ref, hi: *mut Ref) {
    if t == 0 {
        *lo = 0;
        *hi = 0;
        return;
    }
    let s = m.push(t);
    if (get(t, 3) as u64) < key {
        split(m, get(t, 1), key, lo, hi);
        *lo = with_child(m, s, 1, lo);
    } else {
        split(m, get(t, 0), key, lo, hi);
        *hi = with_child(m, s, 0, hi);
    }
    m.pop(1);
}
unsafe fn insert(m: &mut M, t: Ref, key: u64, pri: u64, msg: *mut Ref) -> Ref {
    if t == 0 || pri > get(t, 4) as u64 {
        let lo = m.push(0);
        let hi = m.push(0);
        split(m, t, key, lo, hi);
        let n = tnode(m, lo, hi, msg, key, pri);
        m.pop(2);
        return n;
    }
    let s = m.push(t);
    let side = if key < get(t, 3) as u64 { 0 } else { 1 };
    let c = insert(m, get(t, side), key, pri, msg);
    let cs = m.push(c);
    let n = with_child(m, s, side, cs);
    m.pop(2);
    n
}
unsafe fn delete_min(m: &mut M, t: Ref) -> Ref {
    let l = get(t, 0);
    if l == 0 {
        return get(t, 1);
    }
    let s = m.push(t);
    let c = delete_min(m, l);
    let cs = m.push(c);
    let n = with_child(m, s, 0, cs);
    m.pop(2);
    n
}
unsafe fn tsum(t: Ref) -> u64 {
    if t == 0 {
        return 0;
    }
    (get(t, 3) as u64)
        .wrapping_add(*((get(t, 2) + 8) as *const u8) as u64)
        .wrapping_add(tsum(get(t, 0)))
        .wrapping_add(tsum(get(t, 1)))
}
unsafe fn message_window(m: &mut M, w: u64, mm: u64, p: usize) -> u64 {
    let root = m.push(0);
    let msg = m.push(0);
    let mut size = 0;
    for i in 0..mm {
        let b = m.alloc(0, p);
        std::ptr::write_bytes((b + 8) as *mut u8, (i % 256) as u8, p);
        *msg = b;
        *root = insert(m, *root, i, mix(i), msg);
        *msg = 0;
        size += 1;
        if size > w {
            *root = delete_min(m, *root);
            size -= 1;
        }
    }
    let c = tsum(*root);
    m.pop(2);
    c
}

// ---- server: entry fields 0 = value, 1 = key (raw)
unsafe fn store<const B: u8>(m: &mut M, cache: *const Ref, slots: u64, key: u64) -> Ref {
    let value = m.alloc(0, 1000);
    std::ptr::write_bytes((value + 8) as *mut u8, key as u8, 1000);
    let value = m.push(value);
    let e = m.alloc(1, 16);
    init_field(e, 0, *value);
    init_field(e, 1, key as usize);
    m.pop(1);
    m.write::<B>(*cache, (key % slots) as usize, e);
    e
}
unsafe fn answer<const B: u8>(m: &mut M, cache: *const Ref, slots: u64, request: u64) -> u64 {
    let mut r = Rng(mix(request));
    let popular = 1 + r.next() % (4 * slots);
    let key = r.next() % popular;
    let list = m.push(0);
    for _ in 0..500 {
        let c = m.alloc(1, 16);
        init_field(c, 0, *list);
        init_field(c, 1, r.next() as usize);
        *list = c;
    }
    let mut e = get(*cache, (key % slots) as usize);
    if get(e, 1) as u64 != key {
        e = store::<B>(m, cache, slots, key);
    }
    let value = (get(e, 0) + 8) as *const u8;
    let mut sum = key + u64::from(*value) + u64::from(*value.add(999));
    let mut c = *list;
    while c != 0 {
        sum = sum.wrapping_add(get(c, 1) as u64);
        c = get(c, 0);
    }
    m.pop(1);
    sum
}
fn wait_until(m: &mut M, due: Instant) {
    const SLEEP: Duration = Duration::from_micros(200);
    if due <= Instant::now() {
        return;
    }
    m.blocking(|| loop {
        match due.checked_duration_since(Instant::now()) {
            None | Some(Duration::ZERO) => return,
            Some(left) if left > SLEEP => std::thread::sleep(left - SLEEP),
            Some(_) => std::thread::yield_now(),
        }
    });
}
unsafe fn server<const B: u8>(m: &mut M, threads: u64, requests: u64, slots: u64, rate: u64) -> u64 {
    let cache = m.alloc_big(slots as usize, slots as usize * 8);
    let cache = m.push(cache);
    for key in 0..slots {
        store::<B>(m, cache, slots, key);
    }
    let (next, root) = (AtomicU64::new(0), cache as usize);
    let start = Instant::now();
    let first = start + Duration::from_millis(20);
    let serve = || {
        let mut m = M::new();
        // This thread runs, so no collection moves what the main thread's root refers to.
        let cache = m.push(*(root as *const Ref));
        let mut latencies = Histogram::<u64>::new(3).unwrap();
        let mut sum = 0u64;
        loop {
            let r = next.fetch_add(1, Ordering::Relaxed);
            if r >= requests {
                break;
            }
            let due = match rate {
                0 => Instant::now(),
                _ => first + Duration::from_nanos((u128::from(r) * 1_000_000_000 / u128::from(rate)) as u64),
            };
            wait_until(&mut m, due);
            sum = sum.wrapping_add(answer::<B>(&mut m, cache, slots, r));
            latencies.record(due.elapsed().as_nanos() as u64).unwrap();
        }
        m.leave();
        std::mem::forget(m);
        (sum, latencies)
    };
    let mut served = Vec::new();
    m.blocking(|| {
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..threads).map(|_| scope.spawn(serve)).collect();
            served.extend(all.into_iter().map(|thread| thread.join().unwrap()));
        })
    });
    let seconds = start.elapsed().as_secs_f64();
    let mut latencies = Histogram::<u64>::new(3).unwrap();
    let mut sum = 0u64;
    for (answers, of_thread) in served {
        sum = sum.wrapping_add(answers);
        latencies.add(of_thread).unwrap();
    }
    eprint!("latency requests={requests}");
    for (name, rarer) in [("p50", 2), ("p90", 10), ("p99", 100), ("p99_9", 1000), ("p99_99", 10_000)] {
        if requests >= rarer {
            eprint!(" {name}_ns={}", latencies.value_at_quantile(1.0 - 1.0 / rarer as f64));
        }
    }
    eprintln!(" max_ns={} per_second={:.0}", latencies.max(), requests as f64 / seconds);
    m.pop(1);
    sum
}

unsafe fn run<const B: u8>(w: &str, a: &[u64]) -> u64 {
    if w == "par_trees" {
        let hs: Vec<_> = (0..a[0])
            .map(|t| {
                let n = (a[1] - t) as usize;
                std::thread::Builder::new()
                    .stack_size(16 << 20)
                    .spawn(move || {
                        let mut m = M::new();
                        let c = binary_trees(&mut m, n);
                        m.leave();
                        std::mem::forget(m);
                        c
                    })
                    .unwrap()
            })
            .collect();
        return hs.into_iter().fold(0u64, |s, h| s.wrapping_add(h.join().unwrap()));
    }
    let mut mb = M::new();
    let m = &mut *mb;
    let c = match w {
        "binary_trees" => binary_trees(m, a[0] as usize),
        "gcbench" => gcbench::<B>(m, a[0] as i64, a[1] as i64, a[2] as usize),
        "long_list" => long_list(m, a[0], a[1]),
        "mut_array" => mut_array::<B>(m, a[0] as usize, a[1]),
        "hash_churn" => hash_churn::<B>(m, a[0] as usize, a[1], a[2]),
        "message_window" => message_window(m, a[0], a[1], a[2] as usize),
        "server" => server::<B>(m, a[0], a[1], a[2], a[3]),
        _ => panic!("unknown workload {w}"),
    };
    std::mem::forget(mb);
    c
}

fn main() {
    let t0 = Instant::now();
    let args: Vec<String> = std::env::args().collect();
    let w = args[1].clone();
    let a: Vec<u64> = args[2..].iter().map(|s| s.parse().unwrap()).collect();
    init();
    let c = unsafe {
        match barrier_kind() {
            0 => run::<0>(&w, &a),
            1 => run::<1>(&w, &a),
            _ => run::<2>(&w, &a),
        }
    };
    println!("{w} checksum={c}");
    if std::env::var("GCSTAT").is_ok() {
        let wall = t0.elapsed().as_secs_f64();
        let ps = PAUSES.lock().unwrap();
        let mut total = 0.0;
        let mut max = 0.0f64;
        let mut tts = 0.0f64;
        let mut full = 0;
        for p in ps.iter() {
            let d = (p.end - p.stop).as_secs_f64() * 1e3;
            total += d;
            max = max.max(d);
            tts = tts.max((p.stopped - p.stop).as_secs_f64() * 1e3);
            full += p.full as u32;
        }
        let mut ru: libc::rusage = unsafe { std::mem::zeroed() };
        unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut ru) };
        let tv = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
        eprintln!(
            "GCSTAT wall={:.3} user={:.3} sys={:.3} gcs={} full={} gc_ms={:.1} max_ms={:.2} tts_max_ms={:.2} gc_cpu={:.3} rss_mb={:.1} live_mb={:.1}",
            wall, tv(ru.ru_utime), tv(ru.ru_stime), ps.len(), full, total, max, tts,
            worker_cpu_ns() as f64 * 1e-9, ru.ru_maxrss as f64 / 1024.0,
            MAX_LIVE.load(std::sync::atomic::Ordering::SeqCst) as f64 / 1048576.0
        );
    }
}
