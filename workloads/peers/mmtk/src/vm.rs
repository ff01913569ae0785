//! A small binding for MMTk 0.33: objects with their pointers in front, roots on a shadow stack,
//! any number of mutators.
//!
//! Header (8 bytes): bits 0-1 forwarding, 2-31 number of pointers, 32-63 bytes of payload.
//! Allocation is inlined: cursor and limit of the plan's own allocator are kept in the mutator
//! [`M`], as a virtual machine would keep them. Everything here trusts its caller; nothing checks
//! it.
use mmtk::memory_manager as mm;
use mmtk::plan::BarrierSelector;
use mmtk::util::alloc::{
    AllocationError, Allocator, AllocatorSelector, BumpAllocator, FreeListAllocator, ImmixAllocator,
};
use mmtk::util::copy::{CopySemantics, GCWorkerCopyContext};
use mmtk::util::opaque_pointer::*;
use mmtk::util::{Address, ObjectReference};
use mmtk::vm::slot::{SimpleSlot, UnimplementedMemorySlice};
use mmtk::vm::*;
use mmtk::{AllocationSemantics, MMTKBuilder, Mutator, MutatorContext, MMTK};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::Instant;

#[derive(Default)]
pub struct VM;
pub type Ref = usize;

impl VMBinding for VM {
    type VMObjectModel = Self;
    type VMScanning = Self;
    type VMCollection = Self;
    type VMActivePlan = Self;
    type VMReferenceGlue = Self;
    type VMSlot = SimpleSlot;
    type VMMemorySlice = UnimplementedMemorySlice;
    const MIN_ALIGNMENT: usize = 8;
    const MAX_ALIGNMENT: usize = 8;
    const USE_ALLOCATION_OFFSET: bool = false;
}

pub static MMTK_: OnceLock<Box<MMTK<VM>>> = OnceLock::new();
pub fn mmtk() -> &'static MMTK<VM> {
    MMTK_.get().unwrap()
}

// ---------------------------------------------------------------- object model
#[inline(always)]
pub const fn header(nptrs: usize, bytes: usize) -> u64 {
    ((bytes as u64) << 32) | ((nptrs as u64) << 2)
}
#[inline(always)]
unsafe fn hdr(a: usize) -> u64 {
    *(a as *const u64)
}
#[inline(always)]
fn size_of(a: usize) -> usize {
    unsafe { (8 + (hdr(a) >> 32) as usize + 7) & !7 }
}
#[inline(always)]
fn oref(a: usize) -> ObjectReference {
    unsafe { ObjectReference::from_raw_address_unchecked(Address::from_usize(a)) }
}
#[inline(always)]
fn raw(o: ObjectReference) -> usize {
    o.to_raw_address().as_usize()
}

impl ObjectModel<VM> for VM {
    const GLOBAL_LOG_BIT_SPEC: VMGlobalLogBitSpec = VMGlobalLogBitSpec::side_first();
    const LOCAL_FORWARDING_POINTER_SPEC: VMLocalForwardingPointerSpec = VMLocalForwardingPointerSpec::in_header(0);
    const LOCAL_FORWARDING_BITS_SPEC: VMLocalForwardingBitsSpec = VMLocalForwardingBitsSpec::in_header(0);
    const LOCAL_MARK_BIT_SPEC: VMLocalMarkBitSpec = VMLocalMarkBitSpec::side_first();
    const LOCAL_LOS_MARK_NURSERY_SPEC: VMLocalLOSMarkNurserySpec =
        VMLocalLOSMarkNurserySpec::side_after(Self::LOCAL_MARK_BIT_SPEC.as_spec());
    const UNIFIED_OBJECT_REFERENCE_ADDRESS: bool = true;
    const OBJECT_REF_OFFSET_LOWER_BOUND: isize = 0;

    #[inline(always)]
    fn copy(from: ObjectReference, sem: CopySemantics, ctx: &mut GCWorkerCopyContext<VM>) -> ObjectReference {
        let size = size_of(raw(from));
        let to = ctx.alloc_copy(from, size, 8, 0, sem);
        unsafe { std::ptr::copy_nonoverlapping(raw(from) as *const u64, to.to_mut_ptr::<u64>(), size >> 3) };
        let o = oref(to.as_usize());
        ctx.post_copy(o, size, sem);
        o
    }
    fn copy_to(from: ObjectReference, to: ObjectReference, _region: Address) -> Address {
        let size = size_of(raw(from));
        unsafe { std::ptr::copy(raw(from) as *const u8, raw(to) as *mut u8, size) };
        to.to_raw_address() + size
    }
    #[inline(always)]
    fn get_current_size(o: ObjectReference) -> usize {
        size_of(raw(o))
    }
    #[inline(always)]
    fn get_size_when_copied(o: ObjectReference) -> usize {
        size_of(raw(o))
    }
    fn get_align_when_copied(_: ObjectReference) -> usize {
        8
    }
    fn get_align_offset_when_copied(_: ObjectReference) -> usize {
        0
    }
    fn get_reference_when_copied_to(_from: ObjectReference, to: Address) -> ObjectReference {
        oref(to.as_usize())
    }
    fn get_type_descriptor(_: ObjectReference) -> &'static [i8] {
        &[]
    }
    #[inline(always)]
    fn ref_to_object_start(o: ObjectReference) -> Address {
        o.to_raw_address()
    }
    #[inline(always)]
    fn ref_to_header(o: ObjectReference) -> Address {
        o.to_raw_address()
    }
    fn dump_object(o: ObjectReference) {
        eprintln!("{:?} header {:x}", o, unsafe { hdr(raw(o)) });
    }
}

// ---------------------------------------------------------------- scanning
impl Scanning<VM> for VM {
    #[inline(always)]
    fn scan_object<SV: SlotVisitor<SimpleSlot>>(_: VMWorkerThread, o: ObjectReference, v: &mut SV) {
        let a = raw(o);
        let n = (unsafe { hdr(a) } as u32 >> 2) as usize;
        for i in 0..n {
            let s = a + 8 + i * 8;
            if unsafe { *(s as *const usize) } != 0 {
                v.visit_slot(SimpleSlot::from_address(unsafe { Address::from_usize(s) }));
            }
        }
    }
    fn scan_roots_in_mutator_thread(
        _: VMWorkerThread,
        mutator: &'static mut Mutator<VM>,
        mut factory: impl RootsWorkFactory<SimpleSlot>,
    ) {
        let m = unsafe { &*(mutator.get_tls().0 .0.to_address().as_usize() as *const M) };
        let mut v = Vec::new();
        let mut p = m.base;
        while p < m.sp {
            if unsafe { *p } != 0 {
                v.push(SimpleSlot::from_address(Address::from_mut_ptr(p)));
            }
            p = unsafe { p.add(1) };
        }
        factory.create_process_roots_work(v);
    }
    fn scan_vm_specific_roots(_: VMWorkerThread, _: impl RootsWorkFactory<SimpleSlot>) {}
    fn notify_initial_thread_scan_complete(_: bool, _: VMWorkerThread) {}
    fn supports_return_barrier() -> bool {
        false
    }
    fn prepare_for_roots_re_scanning() {}
}

impl ReferenceGlue<VM> for VM {
    type FinalizableType = ObjectReference;
    fn set_referent(_: ObjectReference, _: ObjectReference) {}
    fn get_referent(_: ObjectReference) -> Option<ObjectReference> {
        None
    }
    fn clear_referent(_: ObjectReference) {}
    fn enqueue_references(_: &[ObjectReference], _: VMWorkerThread) {}
}

// ---------------------------------------------------------------- threads, stop and go
struct Sync_ {
    running: usize,
    stop: bool,
    epoch: u64,
    mutators: Vec<usize>,
}
static SYNC: Mutex<Sync_> = Mutex::new(Sync_ {
    running: 0,
    stop: false,
    epoch: 0,
    mutators: Vec::new(),
});
static CV: Condvar = Condvar::new();
static STOP: AtomicBool = AtomicBool::new(false);
static WORKERS: Mutex<Vec<libc::pthread_t>> = Mutex::new(Vec::new());
static WORKER_ID: AtomicUsize = AtomicUsize::new(1);

pub struct Pause {
    pub stop: Instant,
    pub stopped: Instant,
    pub end: Instant,
    pub full: bool,
}
pub static PAUSES: Mutex<Vec<Pause>> = Mutex::new(Vec::new());
static CUR: Mutex<Option<(Instant, Instant)>> = Mutex::new(None);
pub static MAX_LIVE: AtomicUsize = AtomicUsize::new(0);

impl ActivePlan<VM> for VM {
    fn is_mutator(tls: VMThread) -> bool {
        tls.0.to_address().as_usize() > 4096
    }
    fn mutator(tls: VMMutatorThread) -> &'static mut Mutator<VM> {
        let m = tls.0 .0.to_address().as_usize() as *mut M;
        unsafe { (*m).mutator.as_mut().unwrap() }
    }
    fn mutators<'a>() -> Box<dyn Iterator<Item = &'a mut Mutator<VM>> + 'a> {
        let v = SYNC.lock().unwrap().mutators.clone();
        Box::new(
            v.into_iter()
                .map(|m| unsafe { &mut **(*(m as *mut M)).mutator.as_mut().unwrap() }),
        )
    }
    fn number_of_mutators() -> usize {
        SYNC.lock().unwrap().mutators.len()
    }
}

impl Collection<VM> for VM {
    fn stop_all_mutators<F: FnMut(&'static mut Mutator<VM>)>(_: VMWorkerThread, mut f: F) {
        let t0 = Instant::now();
        let ms = {
            let mut s = SYNC.lock().unwrap();
            s.stop = true;
            STOP.store(true, Ordering::SeqCst);
            while s.running > 0 {
                s = CV.wait(s).unwrap();
            }
            s.mutators.clone()
        };
        *CUR.lock().unwrap() = Some((t0, Instant::now()));
        for m in ms {
            f(unsafe { (*(m as *mut M)).mutator.as_mut().unwrap() });
        }
    }
    fn resume_mutators(_: VMWorkerThread) {
        let plan = mmtk().get_plan();
        if *plan.options().count_live_bytes_in_gc {
            let l: usize = mm::live_bytes_in_last_gc(mmtk()).values().map(|s| s.live_bytes).sum();
            MAX_LIVE.fetch_max(l, Ordering::SeqCst);
        }
        let (stop, stopped) = CUR.lock().unwrap().take().unwrap();
        // GenerationalPlan is not exported by mmtk, but its methods are callable through the trait
        // object.
        let full = match plan.generational() {
            Some(g) => !g.is_current_gc_nursery(),
            None => true,
        };
        PAUSES.lock().unwrap().push(Pause {
            stop,
            stopped,
            end: Instant::now(),
            full,
        });
        let mut s = SYNC.lock().unwrap();
        s.stop = false;
        STOP.store(false, Ordering::SeqCst);
        s.epoch += 1;
        CV.notify_all();
    }
    fn block_for_gc(_: VMMutatorThread) {
        let mut s = SYNC.lock().unwrap();
        s.running -= 1;
        let e = s.epoch;
        CV.notify_all();
        while s.epoch == e || s.stop {
            s = CV.wait(s).unwrap();
        }
        s.running += 1;
    }
    fn spawn_gc_thread(_: VMThread, ctx: GCThreadContext<VM>) {
        let GCThreadContext::Worker(w) = ctx;
        let h = std::thread::spawn(move || {
            WORKERS.lock().unwrap().push(unsafe { libc::pthread_self() });
            let id = WORKER_ID.fetch_add(1, Ordering::SeqCst);
            let tls = OpaquePointer::from_address(unsafe { Address::from_usize(id) });
            mm::start_worker(mmtk(), VMWorkerThread(VMThread(tls)), w)
        });
        std::mem::forget(h);
    }
    fn out_of_memory(_: VMThread, e: AllocationError) {
        eprintln!("OOM {:?}", e);
        std::process::exit(3);
    }
}

pub fn worker_cpu_ns() -> u64 {
    let mut t = 0;
    for w in WORKERS.lock().unwrap().iter() {
        unsafe {
            let mut clk = 0;
            let mut ts: libc::timespec = std::mem::zeroed();
            if libc::pthread_getcpuclockid(*w, &mut clk) == 0 && libc::clock_gettime(clk, &mut ts) == 0 {
                t += ts.tv_sec as u64 * 1_000_000_000 + ts.tv_nsec as u64;
            }
        }
    }
    t
}

// ---------------------------------------------------------------- mutator thread state
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Bump,
    Immix,
    FreeList,
    Generic,
}

#[repr(C)]
pub struct M {
    cursor: usize,
    limit: usize,
    pub sp: *mut usize,
    logbase: usize,
    base: *mut usize,
    mutator: Option<Box<Mutator<VM>>>,
    kind: Kind,
    sel: AllocatorSelector,
    los: usize,
}

const STACK_WORDS: usize = 1 << 20;

pub fn barrier_kind() -> u8 {
    match mmtk().get_plan().constraints().barrier {
        BarrierSelector::NoBarrier => 0,
        BarrierSelector::ObjectBarrier => 1,
        BarrierSelector::SATBBarrier => 2,
    }
}

pub fn init() {
    let b = MMTKBuilder::new(); // reads MMTK_* environment variables
    let m = mm::mmtk_init::<VM>(&b);
    MMTK_.set(m).ok().unwrap();
    mm::initialize_collection(mmtk(), VMThread(OpaquePointer::UNINITIALIZED));
}

impl M {
    pub fn new() -> Box<M> {
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                STACK_WORDS * 8,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            ) as *mut usize
        };
        let sel = mm::get_allocator_mapping(mmtk(), AllocationSemantics::Default);
        let kind = match sel {
            AllocatorSelector::BumpPointer(_) => Kind::Bump,
            AllocatorSelector::Immix(_) => Kind::Immix,
            AllocatorSelector::FreeList(_) => Kind::FreeList,
            _ => Kind::Generic,
        };
        let c = mmtk().get_plan().constraints();
        let logbase = <VM as ObjectModel<VM>>::GLOBAL_LOG_BIT_SPEC
            .as_spec()
            .extract_side_spec()
            .get_starting_address()
            .as_usize();
        let mut m = Box::new(M {
            cursor: 0,
            limit: 0,
            sp: base,
            logbase,
            base,
            mutator: None,
            kind,
            sel,
            los: c.max_non_los_default_alloc_bytes,
        });
        let tls = OpaquePointer::from_address(Address::from_mut_ptr(&mut *m as *mut M));
        let mut s = SYNC.lock().unwrap();
        while s.stop {
            s = CV.wait(s).unwrap();
        }
        m.mutator = Some(mm::bind_mutator(mmtk(), VMMutatorThread(VMThread(tls))));
        s.mutators.push(&mut *m as *mut M as usize);
        s.running += 1;
        m
    }
    /// Leave the mutator set (thread exit).
    pub fn leave(&mut self) {
        let mut s = SYNC.lock().unwrap();
        if s.stop {
            s.running -= 1;
            CV.notify_all();
            while s.stop {
                s = CV.wait(s).unwrap();
            }
            s.running += 1;
        }
        let me = self as *mut M as usize;
        s.mutators.retain(|&x| x != me);
        mm::destroy_mutator(self.mutator.as_mut().unwrap());
        s.running -= 1;
        CV.notify_all();
    }

    /// Waits in `f`, which leaves the heap alone; collections do not wait for this thread.
    pub fn blocking(&mut self, f: impl FnOnce()) {
        unsafe { self.sync_out() };
        SYNC.lock().unwrap().running -= 1;
        CV.notify_all();
        f();
        let mut s = SYNC.lock().unwrap();
        while s.stop {
            s = CV.wait(s).unwrap();
        }
        s.running += 1;
        drop(s);
        unsafe { self.sync_in() };
    }

    #[inline(always)]
    pub unsafe fn alloc(&mut self, nptrs: usize, bytes: usize) -> Ref {
        let size = (8 + bytes + 7) & !7;
        let c = self.cursor;
        let n = c + size;
        if n <= self.limit {
            self.cursor = n;
            *(c as *mut u64) = header(nptrs, bytes);
            c
        } else {
            self.alloc_slow(size, header(nptrs, bytes))
        }
    }

    #[cold]
    unsafe fn safepoint(&mut self) {
        let mut s = SYNC.lock().unwrap();
        if s.stop {
            s.running -= 1;
            CV.notify_all();
            while s.stop {
                s = CV.wait(s).unwrap();
            }
            s.running += 1;
        }
    }

    #[inline(never)]
    unsafe fn alloc_slow(&mut self, size: usize, h: u64) -> Ref {
        let mu: *mut Mutator<VM> = &mut **self.mutator.as_mut().unwrap();
        macro_rules! bump {
            ($t:ty) => {{
                let a: *mut $t = (*mu).allocator_impl_mut::<$t>(self.sel);
                (*a).bump_pointer
                    .reset(Address::from_usize(self.cursor), Address::from_usize(self.limit));
                if STOP.load(Ordering::Relaxed) {
                    self.safepoint(); // the collector resets the allocator's bump pointer
                }
                let r = (*a).alloc(size, 8, 0);
                self.cursor = (*a).bump_pointer.cursor.as_usize();
                self.limit = (*a).bump_pointer.limit.as_usize();
                r.as_usize()
            }};
        }
        let p = match self.kind {
            Kind::Bump => bump!(BumpAllocator<VM>),
            Kind::Immix => bump!(ImmixAllocator<VM>),
            Kind::FreeList => {
                if STOP.load(Ordering::Relaxed) {
                    self.safepoint();
                }
                (*mu)
                    .allocator_impl_mut::<FreeListAllocator<VM>>(self.sel)
                    .alloc(size, 8, 0)
                    .as_usize()
            }
            Kind::Generic => {
                if STOP.load(Ordering::Relaxed) {
                    self.safepoint();
                }
                let p = mm::alloc(&mut *mu, size, 8, 0, AllocationSemantics::Default).as_usize();
                *(p as *mut u64) = h;
                mm::post_alloc(&mut *mu, oref(p), size, AllocationSemantics::Default);
                p
            }
        };
        *(p as *mut u64) = h;
        p
    }

    /// Arrays of any size: large ones go to the large object space.
    #[inline(never)]
    pub unsafe fn alloc_big(&mut self, nptrs: usize, bytes: usize) -> Ref {
        let size = (8 + bytes + 7) & !7;
        if size < self.los {
            return self.alloc(nptrs, bytes);
        }
        if STOP.load(Ordering::Relaxed) && self.kind != Kind::FreeList {
            self.alloc(0, 8); // cheap way to a slow path is not guaranteed; harmless
        }
        let mu: *mut Mutator<VM> = &mut **self.mutator.as_mut().unwrap();
        self.sync_out();
        let p = mm::alloc(&mut *mu, size, 8, 0, AllocationSemantics::Los).as_usize();
        *(p as *mut u64) = header(nptrs, bytes);
        mm::post_alloc(&mut *mu, oref(p), size, AllocationSemantics::Los);
        self.sync_in();
        p
    }
    unsafe fn sync_out(&mut self) {
        let mu: *mut Mutator<VM> = &mut **self.mutator.as_mut().unwrap();
        let (c, l) = (Address::from_usize(self.cursor), Address::from_usize(self.limit));
        match self.kind {
            Kind::Bump => (*mu)
                .allocator_impl_mut::<BumpAllocator<VM>>(self.sel)
                .bump_pointer
                .reset(c, l),
            Kind::Immix => (*mu)
                .allocator_impl_mut::<ImmixAllocator<VM>>(self.sel)
                .bump_pointer
                .reset(c, l),
            _ => {}
        }
    }
    unsafe fn sync_in(&mut self) {
        let mu: *mut Mutator<VM> = &mut **self.mutator.as_mut().unwrap();
        let b = match self.kind {
            Kind::Bump => (*mu).allocator_impl_mut::<BumpAllocator<VM>>(self.sel).bump_pointer,
            Kind::Immix => (*mu).allocator_impl_mut::<ImmixAllocator<VM>>(self.sel).bump_pointer,
            _ => return,
        };
        self.cursor = b.cursor.as_usize();
        self.limit = b.limit.as_usize();
    }

    // roots
    #[inline(always)]
    pub unsafe fn push(&mut self, r: Ref) -> *mut Ref {
        let p = self.sp;
        *p = r;
        self.sp = p.add(1);
        p
    }
    #[inline(always)]
    pub unsafe fn pop(&mut self, n: usize) {
        self.sp = self.sp.sub(n);
    }

    // barriered store; B = 0 none, 1 object-remembering (post), 2 SATB (pre)
    #[inline(always)]
    pub unsafe fn write<const B: u8>(&mut self, o: Ref, i: usize, v: Ref) {
        let s = (o + 8 + i * 8) as *mut usize;
        if B == 2 && self.unlogged(o) {
            self.barrier_slow(o, s as usize, v);
        }
        *s = v;
        if B == 1 && self.unlogged(o) {
            self.barrier_slow(o, s as usize, v);
        }
    }
    #[inline(always)]
    unsafe fn unlogged(&self, o: Ref) -> bool {
        (*((self.logbase + (o >> 6)) as *const u8) >> ((o >> 3) & 7)) & 1 != 0
    }
    #[cold]
    #[inline(never)]
    unsafe fn barrier_slow(&mut self, o: Ref, s: usize, v: Ref) {
        let t = if v == 0 { None } else { Some(oref(v)) };
        self.mutator.as_mut().unwrap().barrier().object_reference_write_slow(
            oref(o),
            SimpleSlot::from_address(Address::from_usize(s)),
            t,
        );
    }
}

// unbarriered accessors
#[inline(always)]
pub unsafe fn get(o: Ref, i: usize) -> usize {
    *((o + 8 + i * 8) as *const usize)
}
#[inline(always)]
pub unsafe fn init_field(o: Ref, i: usize, v: usize) {
    *((o + 8 + i * 8) as *mut usize) = v;
}
#[inline(always)]
pub unsafe fn byte_len(o: Ref) -> usize {
    (hdr(o) >> 32) as usize
}
