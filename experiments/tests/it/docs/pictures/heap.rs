//! The memory of a heap, from the reservation down to the bits of a header.

use super::svg::{Picture, Rect, SMALL, TEXT, TITLE};

/// The sizes that the picture shows, from the source.
#[derive(Debug)]
pub(super) struct Sizes {
    pub reservation: usize,
    pub megablock: usize,
    pub block: usize,
    pub word: usize,
    /// The bits of a header, lowest first: a range such as `48–55`, and its meaning.
    pub bits: Vec<(String, String)>,
}

/// A size in the largest unit that gives a whole number.
fn size(bytes: usize) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let powers = (bytes.trailing_zeros() / 10).min(4);
    format!("{} {}", bytes >> (10 * powers), units[powers as usize])
}

const LEFT: f64 = 200.0;
const WIDTH: f64 = 840.0;

/// A row of cells of equal width; the first `texts.len()` of them have text.
fn cells(picture: &mut Picture, top: f64, count: usize, texts: &[(&str, &str)]) -> Vec<Rect> {
    let width = WIDTH / count as f64;
    let rects = (0..count).map(|place| Rect::new(LEFT + place as f64 * width, top, width, 44.0));
    let rects: Vec<Rect> = rects.collect();
    for (place, rect) in rects.iter().enumerate() {
        match texts.get(place) {
            Some((class, text)) => picture.label(*rect, class, text, SMALL),
            None => picture.rect(*rect, "plain"),
        }
    }
    rects
}

/// Lines from the edges of a box to the row that shows its inside.
fn zoom(picture: &mut Picture, from: Rect, to: f64) {
    picture.path(&[(from.x, from.bottom()), (LEFT, to)], "dash");
    picture.path(&[(from.right(), from.bottom()), (LEFT + WIDTH, to)], "dash");
}

pub(super) fn picture(sizes: &Sizes) -> String {
    let about = "The memory of a heap: a reservation of megablocks, a megablock of blocks, a block of closures, a closure \
                 of a header and slots, and the bits of the header.";
    let mut picture = Picture::new(LEFT + WIDTH + 20.0, 640.0, about);
    let row = |picture: &mut Picture, top: f64, name: &str, text: &str| {
        picture.text(16.0, top + 18.0, name, TITLE);
        picture.text(16.0, top + 36.0, text, SMALL);
    };

    row(
        &mut picture,
        20.0,
        "reservation",
        &format!("{} of addresses", size(sizes.reservation)),
    );
    let megablocks = [
        ("green", "megablock"),
        ("green", "megablock"),
        ("green", "megablock"),
        ("sand", "kept free"),
        ("plain", "returned"),
        ("plain", "no memory yet"),
    ];
    let reservation = cells(&mut picture, 20.0, 6, &megablocks);

    let blocks = sizes.megablock / sizes.block;
    row(
        &mut picture,
        124.0,
        "megablock",
        &format!("{}, {blocks} blocks", size(sizes.megablock)),
    );
    zoom(&mut picture, reservation[1], 124.0);
    let states = [
        ("blue", "nursery (step 0)"),
        ("blue", "nursery (step 0)"),
        ("green", "survivors (step 1)"),
        ("green", "old (step 2)"),
        ("red", "large object"),
        ("sand", "free group"),
        ("plain", "..."),
    ];
    let megablock = cells(&mut picture, 124.0, 7, &states);

    row(
        &mut picture,
        228.0,
        "block",
        &format!("{}, {} words", size(sizes.block), sizes.block / sizes.word),
    );
    zoom(&mut picture, megablock[3], 228.0);
    let closures = [
        ("green", "closure"),
        ("green", "closure"),
        ("green", "closure"),
        ("green", "closure"),
        ("grey", "slop"),
    ];
    let block = cells(&mut picture, 228.0, 5, &closures);

    row(
        &mut picture,
        332.0,
        "closure",
        &format!("words of {} bytes", sizes.word),
    );
    zoom(&mut picture, block[1], 332.0);
    let words = [
        ("sand", "header"),
        ("blue", "slot: a closure, or null"),
        ("blue", "slot: a closure, or null"),
        ("grey", "plain data"),
        ("grey", "plain data"),
    ];
    let closure = cells(&mut picture, 332.0, 5, &words);

    row(&mut picture, 436.0, "header", &format!("{} bits", 8 * sizes.word));
    zoom(&mut picture, closure[0], 436.0);
    let width = WIDTH / sizes.bits.len() as f64;
    for (place, (range, meaning)) in sizes.bits.iter().rev().enumerate() {
        let rect = Rect::new(LEFT + place as f64 * width, 436.0, width, 66.0);
        picture.label(rect, "sand", meaning, SMALL);
        picture.centred(rect.middle(), 520.0, &format!("bits {range}"), SMALL);
    }

    row(&mut picture, 560.0, "side tables", "outside of the heap");
    let tables = [
        "state table: 1 byte a block; its step, condemned or not, large or not",
        "descriptor table: 16 bytes a block; the block allocator's own",
        "marks: 1 bit a word, for collectors that mark",
    ];
    for (place, text) in tables.iter().enumerate() {
        let width = WIDTH / 3.0;
        let rect = Rect::new(LEFT + place as f64 * width, 552.0, width - 10.0, 56.0);
        picture.label(rect, "grey", text, TEXT);
    }
    picture.finish()
}
