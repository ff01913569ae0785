//! Closures: their sizes, and the pointers in them (`Closures.h`, `InfoTables.h` and `Scav.c` of
//! GHC 9.0, without profiling).
//!
//! The first word of a closure is the address of its code. The info table precedes the code: the
//! layout 16 bytes before it, the type 8, the static references (SRT) 4. Before that is what a
//! function's arguments are, for partial applications.

use hashbrown::HashMap;

use super::image::Image;
use crate::error::Problem;

/// Types of closures (`ClosureTypes.h`), without the word counts and states in GHC's names.
#[rustfmt::skip]
pub(super) const TYPES: [&str; 64] = [
    "INVALID_OBJECT", "CONSTR", "CONSTR", "CONSTR", "CONSTR", "CONSTR", "CONSTR", "CONSTR",
    "FUN", "FUN", "FUN", "FUN", "FUN", "FUN", "FUN_STATIC",
    "THUNK", "THUNK", "THUNK", "THUNK", "THUNK", "THUNK", "THUNK_STATIC", "THUNK_SELECTOR",
    "BCO", "AP", "PAP", "AP_STACK", "IND", "IND_STATIC", "RET_BCO", "RET_SMALL", "RET_BIG", "RET_FUN",
    "UPDATE_FRAME", "CATCH_FRAME", "UNDERFLOW_FRAME", "STOP_FRAME", "BLOCKING_QUEUE", "BLACKHOLE",
    "MVAR", "MVAR", "TVAR", "ARR_WORDS", "MUT_ARR_PTRS", "MUT_ARR_PTRS", "MUT_ARR_PTRS",
    "MUT_ARR_PTRS", "MUT_VAR", "MUT_VAR", "WEAK", "PRIM", "MUT_PRIM", "TSO", "STACK", "TREC_CHUNK",
    "ATOMICALLY_FRAME", "CATCH_RETRY_FRAME", "CATCH_STM_FRAME", "WHITEHOLE", "SMALL_MUT_ARR_PTRS",
    "SMALL_MUT_ARR_PTRS", "SMALL_MUT_ARR_PTRS", "SMALL_MUT_ARR_PTRS", "COMPACT_NFDATA",
];
pub(super) const CONSTR_NOCAF: u8 = 7;
pub(super) const FUN: u8 = 8;
pub(super) const FUN_0_2: u8 = 13;
const FUN_STATIC: u8 = 14;
pub(super) const THUNK: u8 = 15;
const THUNK_0_2: u8 = 20;
const THUNK_STATIC: u8 = 21;
pub(super) const THUNK_SELECTOR: u8 = 22;
const BCO: u8 = 23;
pub(super) const AP: u8 = 24;
pub(super) const PAP: u8 = 25;
const AP_STACK: u8 = 26;
pub(super) const IND: u8 = 27;
pub(super) const IND_STATIC: u8 = 28;
const RET_BCO: u8 = 29;
const RET_BIG: u8 = 31;
const RET_FUN: u8 = 32;
const STOP_FRAME: u8 = 36;
pub(super) const BLOCKING_QUEUE: u8 = 37;
pub(super) const BLACKHOLE: u8 = 38;
pub(super) const WEAK: u8 = 49;
pub(super) const TSO: u8 = 52;
pub(super) const STACK: u8 = 53;
const ATOMICALLY_FRAME: u8 = 55;
const CATCH_STM_FRAME: u8 = 57;
pub(super) const WHITEHOLE: u8 = 58;
pub(super) const COMPACT_NFDATA: u8 = 63;

/// Arguments of a function of an uncommon kind (`FunTypes.h`).
const ARG_GEN: u32 = 0;
const ARG_GEN_BIG: u32 = 1;
const ARG_KINDS: u32 = 29;

/// Bits of a small bitmap's word that hold its size.
const SIZE_BITS: u32 = 6;

/// Entries in a chunk of a transaction, and their words; one more in the threaded runtime.
const ENTRIES: u64 = 16;
const ENTRY: u64 = 3;
/// A function that only the threaded runtime has.
const THREADED: &str = "scheduleWorker";

/// Reasons for blocking with which a thread refers to a closure (`Constants.h`).
const BLOCKED_ON_CLOSURE: [u64; 5] = [0, 1, 2, 12, 14];

/// The words of a bitmap, in which 1 means not a pointer.
enum Bitmap<'d> {
    Small(u64),
    Large(&'d [u8]),
}

impl Bitmap<'_> {
    fn is_pointer(&self, word: u64) -> bool {
        match self {
            Bitmap::Small(bits) => bits >> word & 1 == 0,
            Bitmap::Large(bytes) => bytes[word as usize / 8] >> (word % 8) & 1 == 0,
        }
    }
}

/// The name of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The number of a field, a free variable, an argument or an element.
    Index(u64),
    Field(&'static str),
    /// A frame of a stack, by its code.
    Frame(u64),
    /// The static references of code.
    Static,
}

/// An info table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Info {
    /// The address of the code after it.
    pub(super) code: u64,
    pub(super) kind: u8,
    layout: u64,
    srt: i32,
}

impl Info {
    /// The info table of the closure, or the frame, at an address.
    pub(super) fn of(image: &Image<'_>, address: u64) -> Result<Self, Problem> {
        let code = image.word(address)?;
        if code & 1 != 0 {
            return Err(Problem::Core(
                "a collection was running when this core was written: take another one".to_owned(),
            ));
        }
        Info::before(image, code).map_err(|_| {
            Problem::Core(format!(
                "no closure at {address:#x}, whose first word is {code:#x}: is this the core's program?"
            ))
        })
    }

    pub(super) fn before(image: &Image<'_>, code: u64) -> Result<Self, Problem> {
        let (layout, rest) = (image.word(code.wrapping_sub(16))?, image.word(code.wrapping_sub(8))?);
        let kind = rest as u32;
        if kind == 0 || kind as usize >= TYPES.len() || code & 7 != 0 {
            return Err(Problem::Core(format!("no info table before {code:#x}")));
        }
        Ok(Info {
            code,
            kind: kind as u8,
            layout,
            srt: (rest >> 32) as i32,
        })
    }

    /// The number of pointers and of other words of a closure, from the layout.
    fn payload(&self) -> (u64, u64) {
        (self.layout & 0xffff_ffff, self.layout >> 32)
    }

    /// The static references, if it may have any.
    fn srt(&self) -> Option<u64> {
        (self.srt != 0).then(|| self.code.wrapping_add_signed(i64::from(self.srt)))
    }

    /// The description of a constructor.
    pub(super) fn constructor<'d>(&self, image: &Image<'d>) -> Option<&'d str> {
        let offset = image.half(self.code.wrapping_sub(24)).ok()?.cast_signed();
        image.text(self.code.wrapping_add_signed(i64::from(offset)))
    }

    pub(super) fn is_constructor(&self) -> bool {
        (1..=CONSTR_NOCAF).contains(&self.kind)
    }

    pub(super) fn is_frame(&self) -> bool {
        (RET_BCO..=STOP_FRAME).contains(&self.kind) || (ATOMICALLY_FRAME..=CATCH_STM_FRAME).contains(&self.kind)
    }
}

fn aligned(bytes: u64) -> u64 {
    bytes.saturating_add(7) & !7
}

/// Reads closures.
pub(super) struct Closures<'i, 'd> {
    pub(super) image: &'i Image<'d>,
    /// Bitmaps of common kinds of arguments.
    arguments: u64,
    /// The words of an entry of a transaction.
    entry: u64,
    /// By the address of a stack whose thread was running: its stack pointer.
    pub(super) running: HashMap<u64, u64>,
}

/// Called with each pointer in a closure.
pub(super) type Found<'f> = dyn FnMut(Way, u64) -> Result<(), Problem> + 'f;

impl<'i, 'd> Closures<'i, 'd> {
    pub(super) fn new(image: &'i Image<'d>) -> Result<Self, Problem> {
        Ok(Closures {
            image,
            arguments: image.symbol("stg_arg_bitmaps")?,
            entry: ENTRY + u64::from(image.symbol(THREADED).is_ok()),
            running: HashMap::new(),
        })
    }

    /// Calls `found` with each pointer of the closure at an address in the heap. Returns the bytes
    /// of the closure.
    pub(super) fn pointers(&self, address: u64, info: &Info, found: &mut Found<'_>) -> Result<u64, Problem> {
        let image = self.image;
        let word = |index: u64| image.word(address.wrapping_add(8 * index));
        let mut fields = |names: &[(&'static str, u64)]| {
            names
                .iter()
                .try_for_each(|&(name, index)| found(Way::Field(name), word(index)?))
        };
        let (pointers, others) = info.payload();
        let size = match info.kind {
            1..FUN | 50 | 51 => {
                self.row(address + 8, pointers, found)?;
                8 * (1 + pointers + others)
            }
            FUN..=FUN_0_2 => {
                self.row(address + 8, pointers, found)?;
                self.statics(info, found)?;
                8 * (1 + pointers + others)
            }
            THUNK..=THUNK_0_2 => {
                self.row(address + 16, pointers, found)?;
                self.statics(info, found)?;
                8 * (2 + pointers + others)
            }
            THUNK_SELECTOR => {
                fields(&[("selectee", 2)])?;
                24
            }
            AP | PAP => {
                let (at, fun) = if info.kind == AP { (20, 3) } else { (12, 2) };
                let count = u64::from(image.half(address + at)?);
                let payload = address + 8 * (fun + 1);
                fields(&[("fun", fun)])?;
                let bitmap = self.of_function(word(fun)? & !7, count)?;
                self.bits(payload, count, &bitmap, found)?;
                8 * (fun + 1 + count)
            }
            AP_STACK => {
                let size = word(2)?.saturating_mul(8);
                fields(&[("fun", 3)])?;
                self.frames(address + 32, size, found)?;
                size.saturating_add(32)
            }
            BCO => {
                fields(&[("instrs", 1), ("literals", 2), ("ptrs", 3)])?;
                8 * u64::from(image.half(address + 36)?)
            }
            IND | BLACKHOLE => {
                fields(&[("indirectee", 1)])?;
                16
            }
            BLOCKING_QUEUE => {
                fields(&[("bh", 2), ("owner", 3), ("queue", 4)])?;
                40
            }
            39 | 40 => {
                fields(&[("value", 3), ("head", 1), ("tail", 2)])?;
                32
            }
            41 => {
                fields(&[("value", 1), ("watch_queue", 2)])?;
                32
            }
            42 => aligned(word(1)?).saturating_add(16),
            43..=46 => {
                self.row(address + 24, word(1)?, found)?;
                word(2)?.saturating_mul(8).saturating_add(24)
            }
            59..=62 => {
                let count = word(1)?;
                self.row(address + 16, count, found)?;
                count.saturating_mul(8).saturating_add(16)
            }
            47 | 48 => {
                fields(&[("value", 1)])?;
                16
            }
            // The WEAK itself does not keep its key, value or finaliser alive.
            WEAK => 48,
            TSO => {
                fields(&[("stack", 3), ("exceptions", 11), ("blocked", 12), ("trec", 10)])?;
                if BLOCKED_ON_CLOSURE.contains(&(word(4)? >> 16 & 0xffff)) {
                    fields(&[("waits for", 5)])?;
                }
                120
            }
            STACK => {
                let size = 8 * u64::from(image.half(address + 8)?);
                let (start, saved) = (address + 24, word(2)?);
                let sp = self.running.get(&address).copied().unwrap_or(saved);
                let end = start + size;
                if !(start..=end).contains(&sp) {
                    return Err(Problem::Core(format!(
                        "the stack at {address:#x} does not contain its stack pointer {sp:#x}"
                    )));
                }
                self.frames(sp, end - sp, found)?;
                24 + size
            }
            54 => {
                let used = word(2)?.min(ENTRIES);
                fields(&[("previous", 1)])?;
                for entry in 0..used {
                    let at = 3 + entry * self.entry;
                    fields(&[("tvar", at), ("expected", at + 1), ("new", at + 2)])?;
                }
                8 * (3 + ENTRIES * self.entry)
            }
            COMPACT_NFDATA => word(1)?.saturating_mul(8),
            WHITEHOLE => {
                return Err(Problem::Core(
                    "a closure was locked when this core was written: take another one".to_owned(),
                ));
            }
            kind => {
                return Err(Problem::Core(format!(
                    "a {} at {address:#x}, which is never in the heap: is this the core's program?",
                    TYPES[usize::from(kind)]
                )));
            }
        };
        // All that was reported of the closure is in the core.
        match usize::try_from(size).ok().and_then(|size| image.bytes(address, size)) {
            Some(_) => Ok(size),
            None => Err(Problem::Core(format!(
                "the closure at {address:#x} of {size} bytes is not entirely in the core"
            ))),
        }
    }

    /// Calls `found` with each pointer of a closure outside the heap.
    pub(super) fn static_pointers(&self, address: u64, info: &Info, found: &mut Found<'_>) -> Result<(), Problem> {
        match info.kind {
            CONSTR_NOCAF => Ok(()),
            IND_STATIC => found(Way::Field("value"), self.image.word(address + 8)?),
            1..CONSTR_NOCAF => self.row(address + 8, info.payload().0, found),
            // A function may be a table of static references, too.
            FUN_STATIC => {
                self.row(address + 8, info.payload().0, found)?;
                self.statics(info, found)
            }
            THUNK_STATIC => self.statics(info, found),
            _ => Ok(()),
        }
    }

    fn statics(&self, info: &Info, found: &mut Found<'_>) -> Result<(), Problem> {
        info.srt().map_or(Ok(()), |srt| found(Way::Static, srt))
    }

    fn row(&self, start: u64, count: u64, found: &mut Found<'_>) -> Result<(), Problem> {
        (0..count).try_for_each(|index| found(Way::Index(index), self.image.word(start.wrapping_add(8 * index))?))
    }

    fn bits(&self, start: u64, count: u64, bitmap: &Bitmap<'_>, found: &mut Found<'_>) -> Result<(), Problem> {
        let mut pointers = (0..count).filter(|&word| bitmap.is_pointer(word));
        pointers.try_for_each(|word| found(Way::Index(word), self.image.word(start.wrapping_add(8 * word))?))
    }

    /// Reads the frames from `sp`, `size` bytes of them.
    pub(super) fn frames(&self, sp: u64, size: u64, found: &mut Found<'_>) -> Result<(), Problem> {
        let image = self.image;
        let end = sp.saturating_add(size);
        let mut at = sp;
        while at < end {
            let info = Info::of(image, at)?;
            if !info.is_frame() {
                return Err(Problem::Core(format!(
                    "no frame at {at:#x} of a stack, but a {}",
                    TYPES[usize::from(info.kind)]
                )));
            }
            let mut of_frame = |way: Way, pointer: u64| match way {
                Way::Static => found(Way::Static, pointer),
                _ => found(Way::Frame(info.code), pointer),
            };
            let (start, count, bitmap) = match info.kind {
                RET_BCO => {
                    let bco = image.word(at + 8)?;
                    of_frame(Way::Index(0), bco)?;
                    let (count, bitmap) = self.large((bco & !7) + 40)?;
                    (at + 16, count, bitmap)
                }
                RET_BIG => {
                    let (count, bitmap) = self.large(self.offset(info.code - 16)?.wrapping_add(info.code))?;
                    (at + 8, count, bitmap)
                }
                RET_FUN => {
                    let (count, fun) = (image.word(at + 8)?, image.word(at + 16)?);
                    of_frame(Way::Index(0), fun)?;
                    (at + 24, count, self.of_function(fun & !7, count)?)
                }
                _ => {
                    let count = info.layout & ((1 << SIZE_BITS) - 1);
                    (at + 8, count, Bitmap::Small(info.layout >> SIZE_BITS))
                }
            };
            if info.kind != RET_BCO && info.kind != RET_FUN {
                self.statics(&info, &mut of_frame)?;
            }
            if count > size / 8 {
                return Err(Problem::Core(format!("the frame at {at:#x} is larger than its stack")));
            }
            self.bits(start, count, &bitmap, &mut of_frame)?;
            at = start + 8 * count;
        }
        Ok(())
    }

    fn offset(&self, address: u64) -> Result<u64, Problem> {
        Ok(i64::from(self.image.half(address)?.cast_signed()).cast_unsigned())
    }

    /// A large bitmap, and its number of words.
    fn large(&self, address: u64) -> Result<(u64, Bitmap<'d>), Problem> {
        let count = self.image.word(address)?;
        let bytes = usize::try_from(count.div_ceil(64).saturating_mul(8)).ok();
        let bytes = bytes.and_then(|bytes| self.image.bytes(address + 8, bytes));
        let bytes = bytes.ok_or_else(|| Problem::Core(format!("the bitmap at {address:#x} is not in the core")))?;
        Ok((count, Bitmap::Large(bytes)))
    }

    /// Which of `count` arguments of a function are pointers.
    fn of_function(&self, function: u64, count: u64) -> Result<Bitmap<'d>, Problem> {
        let info = Info::of(self.image, function)?;
        let (known, bitmap) = if info.kind == BCO {
            self.large(function + 40)?
        } else {
            let of_code = match self.image.half(info.code - 24)? {
                ARG_GEN => self.image.word(info.code - 32)?,
                ARG_GEN_BIG => {
                    let (known, bitmap) = self.large(self.offset(info.code - 32)?.wrapping_add(info.code))?;
                    return self.checked(function, known, count, bitmap);
                }
                kind if kind < ARG_KINDS => self.image.word(self.arguments + 8 * u64::from(kind))?,
                kind => {
                    return Err(Problem::Core(format!(
                        "the function at {function:#x} has arguments of the unknown kind {kind}"
                    )));
                }
            };
            (of_code & ((1 << SIZE_BITS) - 1), Bitmap::Small(of_code >> SIZE_BITS))
        };
        self.checked(function, known, count, bitmap)
    }

    fn checked(&self, function: u64, known: u64, count: u64, bitmap: Bitmap<'d>) -> Result<Bitmap<'d>, Problem> {
        if count > known {
            return Err(Problem::Core(format!(
                "{count} arguments of the function at {function:#x}, which takes {known}"
            )));
        }
        Ok(bitmap)
    }
}
