//! How fast logs are read: bytes a second of the summary, of the order of time, and of lines.
//!
//! The log is made here, by the writer: collections of two capabilities, with threads that run and
//! stop between them. `GCLAB_EVENTLOG_MIB` is its size, 8 MiB if it is not set. If
//! `GCLAB_EVENTLOG_FILE` is set, the log is written there, too, so that other readers can be timed
//! on it (`peers/summary.hs`).

use std::hint::black_box;
use std::io::Cursor;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use gclab_eventlog::{
    Buffer, Filter, Interval, Lines, Merged, Reader, Side, Summary, Value, Writer, chrome, kinds, show,
};

/// GHC's blocks: 2 MiB.
const BLOCK: usize = 2 << 20;

fn made(bytes: usize) -> Vec<u8> {
    let mut log = Writer::new(Vec::with_capacity(bytes + 2 * BLOCK), kinds::current()).unwrap();
    let mut buffers = [0, 1].map(|cap| Buffer::new(Some(cap)));
    let n = Value::Number;
    let (mut time, mut written, mut round) = (0, 0, 0_u64);
    while written < bytes {
        round += 1;
        for (cap, buffer) in buffers.iter_mut().enumerate() {
            let cap = cap as u64;
            let mut put = |kind, at, values: &[Value<'_>]| buffer.event(kind, time + at + cap, values).unwrap();
            for thread in 0..8 {
                put(&kinds::RUN_THREAD, 100 * thread, &[n(thread)]);
                put(&kinds::STOP_THREAD, 100 * thread + 60, &[n(thread), n(3), n(0)]);
            }
            put(&kinds::GC_START, 1000, &[]);
            put(&kinds::GC_WORK, 1010, &[]);
            put(&kinds::GC_IDLE, 1200, &[]);
            put(&kinds::GC_DONE, 1400, &[]);
            put(&kinds::HEAP_ALLOCATED, 1500, &[n(0), n(round << 20)]);
            if cap == round % 2 {
                put(&kinds::GC_GLOBAL_SYNC, 1510, &[]);
                let stats = [0, 0, 4096, 64, 128, 2, 3072, 4096, 2048].map(n);
                put(&kinds::GC_STATS_GHC, 1520, &stats);
            }
            put(&kinds::GC_END, 1530, &[]);
            put(&kinds::HEAP_SIZE, 1540, &[n(0), n(64 << 20)]);
        }
        time += 2000;
        for buffer in &mut buffers {
            if buffer.len() > BLOCK - 4096 {
                written += buffer.len();
                log.block(buffer, time).unwrap();
            }
        }
    }
    for buffer in &mut buffers {
        log.block(buffer, time).unwrap();
    }
    log.finish().unwrap()
}

fn read(criterion: &mut Criterion) {
    let size = std::env::var("GCLAB_EVENTLOG_MIB")
        .ok()
        .and_then(|text| text.parse().ok());
    let log = made(size.unwrap_or(8) << 20);
    if let Some(file) = std::env::var_os("GCLAB_EVENTLOG_FILE") {
        std::fs::write(file, &log).unwrap();
    }
    let mut group = criterion.benchmark_group("eventlog");
    group.sample_size(10).throughput(Throughput::Bytes(log.len() as u64));
    group.bench_function("summary", |bencher| {
        bencher.iter(|| {
            let mut reader = Reader::new(&log[..], "bench").unwrap();
            let summary = Summary::of(&mut reader, Interval::default()).unwrap();
            black_box(summary.gc_ns)
        });
    });
    group.bench_function("order of time", |bencher| {
        bencher.iter(|| {
            let mut merged = Merged::new(Cursor::new(&log), "bench", false).unwrap();
            let mut latest = 0;
            while let Some(event) = merged.next_event().unwrap() {
                latest = event.time();
            }
            black_box(latest)
        });
    });
    group.bench_function("figures of a comparison", |bencher| {
        bencher.iter(|| Side::of(&mut Reader::new(&log[..], "bench").unwrap(), Interval::default()).unwrap());
    });
    group.bench_function("trace events", |bencher| {
        bencher.iter(|| {
            let mut merged = Merged::new(Cursor::new(&log), "bench", false).unwrap();
            chrome(&mut merged, Interval::default(), &mut std::io::sink()).unwrap()
        });
    });
    for (name, lines) in [("text", Lines::Text), ("JSON", Lines::Json)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut merged = Merged::new(Cursor::new(&log), "bench", false).unwrap();
                show(&mut merged, &Filter::default(), lines, &mut std::io::sink()).unwrap();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
