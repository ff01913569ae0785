//! The memory of a stopped process: its core file, plus the program's own file for what the core
//! leaves out, such as code and constants.

use hashbrown::HashMap;

use object::elf::{FileHeader64, NT_AUXV, NT_PRSTATUS, PT_LOAD, PT_NOTE};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, elf};

use super::names::is_haskell;
use crate::error::Problem;
use crate::memory::{insert, push};

/// The entry of a process's auxiliary vector with the address of the program's first instruction.
const AT_ENTRY: u64 = 9;
/// The place of the registers in the status of a thread, and of three among them (Linux, x86-64).
const REGISTERS: usize = 112;
const COUNT: usize = 27;
const RBP: usize = 4;
const RIP: usize = 16;
const RSP: usize = 19;

/// The first address beyond any program's.
pub(super) const END: u64 = 1 << 47;

/// Bytes of a file at an address.
struct Part<'d> {
    start: u64,
    data: &'d [u8],
}

/// The registers of a system thread.
pub(super) struct Registers([u64; COUNT]);

impl Registers {
    /// GHC's stack pointer, while Haskell code runs.
    pub(super) fn haskell_stack(&self) -> u64 {
        self.0[RBP]
    }

    pub(super) fn stack(&self) -> u64 {
        self.0[RSP]
    }

    pub(super) fn instruction(&self) -> u64 {
        self.0[RIP]
    }

    pub(super) fn all(&self) -> &[u64] {
        &self.0
    }
}

/// The memory of a process, and the names in its program.
pub(super) struct Image<'d> {
    core: Vec<Part<'d>>,
    program: Vec<Part<'d>>,
    code: std::ops::Range<u64>,
    /// Addresses of everything but Haskell code, by name.
    symbols: HashMap<&'d str, u64>,
    /// Haskell code and closures by address.
    haskell: Vec<(u64, &'d str)>,
    pub(super) threads: Vec<Registers>,
    /// The version of GHC that compiled the program.
    pub(super) version: String,
}

fn broken(what: &str) -> impl Fn(object::Error) -> Problem + '_ {
    move |error| Problem::Core(format!("{what}: {error}"))
}

impl<'d> Image<'d> {
    /// Joins a core and its program.
    pub(super) fn new(core: &'d [u8], program: &'d [u8]) -> Result<Self, Problem> {
        let mut image = Image {
            core: Vec::new(),
            program: Vec::new(),
            code: 0..0,
            symbols: HashMap::new(),
            haskell: Vec::new(),
            threads: Vec::new(),
            version: String::new(),
        };
        let entry = image.read_core(core)?;
        image.read_program(program, entry)?;
        Ok(image)
    }

    /// Reads the memory and the threads. Returns the address of the program's first instruction.
    fn read_core(&mut self, core: &'d [u8]) -> Result<u64, Problem> {
        const WHAT: &str = "this core file is damaged";
        let (header, endian) = header(core, WHAT)?;
        if header.e_type.get(endian) != elf::ET_CORE {
            return Err(Problem::Core(
                "this is a program, not a core file; `gcore PID` writes one".to_owned(),
            ));
        }
        let mut entry = None;
        for segment in header.program_headers(endian, core).map_err(broken(WHAT))? {
            match segment.p_type(endian) {
                PT_LOAD => {
                    let data = segment.data(endian, core).map_err(|()| {
                        Problem::Core("the core file ends before its memory does: it was cut off".to_owned())
                    })?;
                    let start = segment.p_vaddr(endian);
                    if start < END {
                        push(&mut self.core, Part { start, data })?;
                    }
                }
                PT_NOTE => {
                    let notes = segment.notes(endian, core).map_err(broken(WHAT))?;
                    let Some(mut notes) = notes else { continue };
                    while let Some(note) = notes.next().map_err(broken(WHAT))? {
                        let words = words(note.desc());
                        match note.n_type(endian) {
                            NT_AUXV => {
                                let pairs = words.chunks_exact(2);
                                entry = pairs.filter(|pair| pair[0] == AT_ENTRY).map(|pair| pair[1]).next();
                            }
                            NT_PRSTATUS => {
                                let registers = words.get(REGISTERS / 8..).and_then(|words| words.first_chunk());
                                if let Some(registers) = registers {
                                    push(&mut self.threads, Registers(*registers))?;
                                }
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
        self.core.sort_by_key(|part| part.start);
        entry.ok_or_else(|| Problem::Core("the core file does not say where its program starts".to_owned()))
    }

    /// Reads the program's constants and names.
    fn read_program(&mut self, program: &'d [u8], entry: u64) -> Result<(), Problem> {
        const WHAT: &str = "the program of `--exe` is damaged";
        let (header, endian) = header(program, WHAT)?;
        let moved = entry.wrapping_sub(header.e_entry.get(endian));
        for segment in header.program_headers(endian, program).map_err(broken(WHAT))? {
            if segment.p_type(endian) != PT_LOAD {
                continue;
            }
            let data = segment
                .data(endian, program)
                .map_err(|()| Problem::Core(WHAT.to_owned()))?;
            let start = segment.p_vaddr(endian).wrapping_add(moved);
            if segment.p_flags(endian) & elf::PF_X != 0 {
                self.code = start..start.saturating_add(data.len() as u64);
            }
            push(&mut self.program, Part { start, data })?;
        }
        self.program.sort_by_key(|part| part.start);
        let sections = header.sections(endian, program).map_err(broken(WHAT))?;
        if let Some((_, comment)) = sections.section_by_name(endian, b".comment") {
            let data = comment.data(endian, program).map_err(broken(WHAT))?;
            let mut makers = data.split(|&byte| byte == 0);
            let version = makers.find_map(|maker| maker.strip_prefix(b"GHC "));
            self.version = String::from_utf8_lossy(version.unwrap_or_default()).into_owned();
        }
        let symbols = sections
            .symbols(endian, program, elf::SHT_SYMTAB)
            .map_err(broken(WHAT))?;
        for symbol in symbols.iter() {
            let name = symbol.name(endian, symbols.strings()).unwrap_or_default();
            let Ok(name) = std::str::from_utf8(name) else { continue };
            if name.is_empty() || symbol.is_undefined(endian) {
                continue;
            }
            let address = symbol.st_value(endian).wrapping_add(moved);
            if is_haskell(name) {
                push(&mut self.haskell, (address, name))?;
            } else {
                insert(&mut self.symbols, name, address)?;
            }
        }
        self.haskell.sort_unstable();
        Ok(())
    }

    /// The bytes at an address.
    #[inline]
    pub(super) fn bytes(&self, address: u64, count: usize) -> Option<&'d [u8]> {
        [&self.core, &self.program].into_iter().find_map(|parts| {
            let after = parts.partition_point(|part| part.start <= address);
            let part = &parts[after.checked_sub(1)?];
            let start = usize::try_from(address - part.start).ok()?;
            part.data.get(start..start.checked_add(count)?)
        })
    }

    /// The word at an address.
    #[inline]
    pub(super) fn word(&self, address: u64) -> Result<u64, Problem> {
        let bytes = self.bytes(address, 8).and_then(<[u8]>::first_chunk);
        bytes.map(|bytes| u64::from_le_bytes(*bytes)).ok_or_else(|| {
            Problem::Core(format!(
                "address {address:#x} is in neither the core nor the program: is this the core's program, and is it linked without -dynamic?"
            ))
        })
    }

    /// The half word at an address.
    pub(super) fn half(&self, address: u64) -> Result<u32, Problem> {
        let word = self.word(address & !7)?;
        Ok((word >> (8 * (address & 4))) as u32)
    }

    /// The text at an address, up to a zero byte.
    pub(super) fn text(&self, address: u64) -> Option<&'d str> {
        const LONGEST: usize = 1000;
        let bytes = (1..=LONGEST).find_map(|count| self.bytes(address, count).filter(|text| text.ends_with(&[0])));
        std::str::from_utf8(bytes?.split_last()?.1).ok()
    }

    /// The address of a symbol of the runtime.
    pub(super) fn symbol(&self, name: &str) -> Result<u64, Problem> {
        self.symbols.get(name).copied().ok_or_else(|| {
            Problem::Core(format!(
                "the program of `--exe` has no symbol `{name}`: either it was not compiled by GHC, or its symbols were stripped"
            ))
        })
    }

    /// Whether an address is in the program's code.
    pub(super) fn is_code(&self, address: u64) -> bool {
        self.code.contains(&address)
    }

    /// The symbol of Haskell code or of a closure at an address, or else the next one: local code
    /// precedes the code that it belongs to.
    pub(super) fn haskell(&self, address: u64) -> Option<(u64, &'d str)> {
        let at = self.haskell.partition_point(|&(start, _)| start < address);
        self.haskell.get(at).copied()
    }
}

fn header<'d>(file: &'d [u8], what: &str) -> Result<(&'d FileHeader64<Endianness>, Endianness), Problem> {
    let header = FileHeader64::<Endianness>::parse(file).map_err(broken(what))?;
    let endian = header.endian().map_err(broken(what))?;
    if header.e_machine.get(endian) != elf::EM_X86_64 {
        return Err(Problem::Core(
            "heaps of GHC can be read only from x86-64 Linux".to_owned(),
        ));
    }
    Ok((header, endian))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// The variables of the runtime system.
impl Image<'_> {
    /// The addresses of the generations, the youngest first (`GC.h`).
    pub(super) fn generations(&self) -> Result<Vec<u64>, Problem> {
        const NEXT: u64 = 120;
        let mut generations = vec![self.word(self.symbol("generations")?)?];
        // The oldest one points to itself.
        while let next = self.word(generations[generations.len() - 1] + NEXT)?
            && !generations.contains(&next)
        {
            few(generations.len() as u32)?;
            push(&mut generations, next)?;
        }
        Ok(generations)
    }

    /// The addresses of the capabilities.
    pub(super) fn capabilities(&self) -> Result<Vec<u64>, Problem> {
        let count = self.half(self.symbol("n_capabilities")?)?;
        let first = self.word(self.symbol("capabilities")?)?;
        (0..few(count)?).map(|at| self.word(first + 8 * at)).collect()
    }

    /// What stable pointers lead to.
    pub(super) fn stable_pointers(&self) -> Result<Vec<u64>, Problem> {
        let count = u64::from(self.half(self.symbol("SPT_size")?)?);
        let first = self.word(self.symbol("stable_ptr_table")?)?;
        let table = first..first.saturating_add(8 * count);
        let mut pointers = Vec::new();
        for at in table.clone().step_by(8) {
            let pointer = self.word(at)?;
            // A free entry leads to the next one.
            if pointer != 0 && !table.contains(&pointer) {
                push(&mut pointers, pointer)?;
            }
        }
        Ok(pointers)
    }
}

/// A number of generations or capabilities.
fn few(count: u32) -> Result<u64, Problem> {
    const MOST: u32 = 1 << 12;
    match count {
        1..=MOST => Ok(u64::from(count)),
        _ => Err(Problem::Core(format!(
            "{count} generations or capabilities: is this the core's program?"
        ))),
    }
}
