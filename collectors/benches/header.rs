//! The reason why the header holds an info pointer *and* a packed layout: the cost of a scan for
//! either place of the layout.
//!
//! A heap of closures of mixed sizes is walked from end to end, as scavenging does. The layout is
//! read from the header word (`packed`) or through the info pointer in it (`info table`), for few
//! and many types of closures.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

/// The part of an info table that a scan needs, alone in its cache line.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Info {
    ptrs: u8,
    words: u8,
}

const CLOSURES: usize = 1 << 16;

/// Closures back to back: header (`info index << 6 | ptrs << 48 | words << 56 | 1`) and payload.
fn heap(infos: &[Info]) -> Vec<u64> {
    let mut heap = Vec::new();
    let mut state = 1u64;
    for _ in 0..CLOSURES {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let index = (state >> 33) as usize % infos.len();
        let Info { ptrs, words } = infos[index];
        heap.push((words as u64) << 56 | (ptrs as u64) << 48 | (index as u64) << 6 | 1);
        heap.extend((0..words as u64).map(|i| state ^ i));
    }
    heap
}

/// Walks the heap and reads every pointer; `layout` returns the pointers and words of a header.
#[inline(always)]
fn walk(heap: &[u64], layout: impl Fn(u64) -> (usize, usize)) -> u64 {
    let (mut at, mut sum) = (0, 0u64);
    while at < heap.len() {
        let (ptrs, words) = layout(heap[at]);
        for slot in &heap[at + 1..at + 1 + ptrs] {
            sum = sum.wrapping_add(slot >> 12);
        }
        at += 1 + words;
    }
    sum
}

fn header(c: &mut Criterion) {
    for types in [1usize, 16, 256, 4096] {
        let infos: Vec<Info> = (0..types)
            .map(|i| Info {
                ptrs: (i % 3) as u8,
                words: (2 + i % 4) as u8,
            })
            .collect();
        let heap = heap(&infos);
        let mut group = c.benchmark_group(format!("walk closures of {types} types"));
        group.throughput(Throughput::Elements(CLOSURES as u64));
        group.bench_function("packed", |b| {
            b.iter(|| walk(black_box(&heap), |h| ((h >> 48 & 0xff) as usize, (h >> 56) as usize)))
        });
        group.bench_function("info table", |b| {
            b.iter(|| {
                walk(black_box(&heap), |h| {
                    let info = &infos[(h >> 6 & 0xffff) as usize];
                    (info.ptrs as usize, info.words as usize)
                })
            })
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(std::time::Duration::from_millis(500)).measurement_time(std::time::Duration::from_secs(2));
    targets = header
}
criterion_main!(benches);
