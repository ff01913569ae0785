//! The module `Gc` at work, in a program with a cache of pictures: finalisers, an alarm, memory
//! outside the heap, a sample of allocations, and the statistics of the run.
//!
//! `cargo run --example gc_module`

use std::error::Error;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gclab_collectors::Ocaml;
use gclab_collectors::ocaml::{Control, GcModule, GcView, NotOcaml};
use gclab_core::closure::{Closure, Ptr};
use gclab_core::collector::KindOf;
use gclab_core::config::{Config, OcamlLetter};
use gclab_core::mutator::{Allocation, ByteArray, Foreign, Handle, MutArray, Mutator, Root, Tracker};
use gclab_core::words::Bytes;
use gclab_core::world::World;

/// Pictures that the program loads, one after the other.
const PICTURES: u64 = 5000;
/// Places of the cache: a picture overwrites the one that was loaded so many pictures before.
const PLACES: u64 = 200;
/// Bytes of the pixels of a picture.
const PIXELS: usize = 4096;
/// The part of all words that is sampled.
const RATE: f64 = 0.01;

/// A picture. Its pixels lie outside the heap.
#[derive(Closure)]
#[allow(dead_code, reason = "it never exists as a Rust value")]
struct Picture {
    name: Ptr<ByteArray>,
    pixels: Ptr<Foreign<Vec<u8>>>,
}

/// What the functions of the program have counted.
#[derive(Default)]
struct Counts {
    closed: AtomicU64,
    cycles: AtomicU64,
    samples: AtomicU64,
    sampled: AtomicU64,
    sampled_dead: AtomicU64,
}

/// Follows the sampled closures.
struct Sample(Arc<Counts>);

impl Sample {
    fn allocated(&self, allocation: &Allocation) -> Option<()> {
        self.0.sampled.fetch_add(1, Relaxed);
        self.0.samples.fetch_add(u64::from(allocation.n_samples), Relaxed);
        Some(())
    }

    fn died(&self) {
        self.0.sampled_dead.fetch_add(1, Relaxed);
    }
}

impl Tracker for Sample {
    type Minor = ();
    type Major = ();

    fn alloc_minor(&mut self, allocation: &Allocation) -> Option<()> {
        self.allocated(allocation)
    }

    fn alloc_major(&mut self, allocation: &Allocation) -> Option<()> {
        self.allocated(allocation)
    }

    fn promote(&mut self, (): ()) -> Option<()> {
        Some(())
    }

    fn dealloc_minor(&mut self, (): ()) {
        self.died();
    }

    fn dealloc_major(&mut self, (): ()) {
        self.died();
    }
}

/// Loads a picture into its place of the cache. A finaliser counts it when it has died.
fn load<'h>(
    m: &mut Mutator<'h, KindOf<Ocaml>>,
    cache: &Root<'_, 'h, MutArray<Picture>>,
    number: u64,
    counts: &Arc<Counts>,
) -> Result<(), NotOcaml> {
    m.frame(|m, [name, pixels]| {
        let name = name.put(m.alloc_bytes(format!("picture {number}").as_bytes()));
        let pixels = pixels.put(m.alloc_foreign(vec![number as u8; PIXELS], Bytes(PIXELS)));
        let (view, picture) = m.alloc_with(|m| Picture::new(name.get(m), pixels.get(m)));
        cache.get(view).set(view, (number % PLACES) as usize, Some(picture));
        let counts = Arc::clone(counts);
        view.gc()?.finalise(
            move |m, picture: Handle<Picture>| {
                let pixels = picture.open(m).pixels(m).value(m);
                assert!(pixels.iter().all(|pixel| *pixel == number as u8));
                counts.closed.fetch_add(1, Relaxed);
            },
            picture,
        );
        Ok(())
    })
}

fn program(m: &mut Mutator<'_, KindOf<Ocaml>>, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let counts = Arc::new(Counts::default());
    let mut gc = m.gc()?;
    let control = gc.get();
    gc.set(Control {
        space_overhead: 80,
        ..control
    })?;
    gc.memprof_start(RATE, 0, Sample(Arc::clone(&counts)))?;
    let rings = Arc::clone(&counts);
    let alarm = gc.create_alarm(move |_| _ = rings.cycles.fetch_add(1, Relaxed));
    m.frame(|m, [cache]| {
        let cache = cache.put(m.alloc_array::<Picture>(PLACES as usize, |_| None));
        (0..PICTURES).try_for_each(|number| load(m, &cache, number, &counts))?;
        let mut gc = m.gc()?;
        gc.full_major();
        gc.delete_alarm(alarm);
        gc.memprof_stop()?;
        let of = |count: &AtomicU64| count.load(Relaxed);
        writeln!(out, "{} of {PICTURES} pictures were closed", of(&counts.closed))?;
        writeln!(out, "{} cycles ended", of(&counts.cycles))?;
        writeln!(
            out,
            "{} closures were sampled, and {} of them died",
            of(&counts.sampled),
            of(&counts.sampled_dead)
        )?;
        writeln!(
            out,
            "about {:.0} words were allocated, by the sample; {:.0} by the counters\n",
            of(&counts.samples) as f64 / RATE,
            gc.allocated_bytes() / 8.0
        )?;
        gc.print_stat(out)?;
        let stats = m.rts_stats()?;
        writeln!(
            out,
            "\nGHC's statistics: {} bytes in {} collections, {} of them major",
            stats.allocated_bytes, stats.gcs, stats.major_gcs
        )?;
        Ok(())
    })
}

/// Runs the program in a heap of its own. Its text goes to `out`.
///
/// # Errors
/// Those of `out`, and an exhausted heap.
pub(crate) fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut config = Config::default();
    config.ocaml.set(OcamlLetter::MinorHeap, Some(8 << 10));
    let mut world = World::new::<Ocaml>(&config)?;
    world.enable_rts_stats();
    world.enter(|m| program(m, out))??;
    let figures = world.finish().figures;
    for figure in figures.iter().filter(|figure| figure.name.contains("foreign")) {
        writeln!(out, "{}: {}", figure.name, figure.value)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}
