//! Lists and arrays of ten million: no recursion, and no more memory than documented.

use super::{Node, config};
use gclab_collectors::Copying;
use gclab_core::collector::Observed;
use gclab_core::config::Config;
use gclab_core::mutator::{Any, Handle, MutArray};
use gclab_core::words::Bytes;
use gclab_core::world::{ClosureView, Stopped, World};
use gclab_flags::Flags;
use gclab_heap_traverse::profile::Counter;
use gclab_heap_traverse::{Client, Order, Traversal, Visit};

const MANY: u64 = 10_000_000;

fn world() -> World<Observed> {
    let config = Config {
        profile: Flags::parse_words(&["-hb"]).expect("a flag").config.profile,
        allocation_area: Bytes::gib(1),
        ..config(2)
    };
    World::observed::<Copying>(&config).expect("a heap")
}

/// A depth-first client that counts closures, on the way back if `LEAVE`.
struct Deep<const LEAVE: bool>(u64);

impl<'a, const LEAVE: bool> Client<'a> for Deep<LEAVE> {
    const ORDER: Order = Order::DepthFirst;
    const LEAVE: bool = LEAVE;
    type Parent = ();
    type Data = ();
    type Sum = u64;
    fn visit(&mut self, _: ClosureView<'a>, (): (), (): (), _: bool) -> Visit<()> {
        self.0 += u64::from(!LEAVE);
        Visit::Descend(())
    }
    fn leave(&mut self, _: ClosureView<'a>, sum: u64, parent: Option<(ClosureView<'a>, &mut u64)>) {
        *parent.map_or(&mut self.0, |(_, above)| above) += sum + 1;
    }
}

/// Visits all of `closures` in every way. Returns the memory of the stacks: in any order, depth
/// first, and depth first with a way back.
fn stacks(stopped: &Stopped<'_>, closures: u64) -> [usize; 3] {
    let mut traversal = Traversal::new(stopped);
    let roots = || stopped.root_closures().into_iter().map(|root| (root, ()));
    let mut count = 0;
    traversal.each(stopped.root_closures(), |_| {
        count += 1;
        Visit::Descend(())
    });
    assert_eq!(count, closures);
    let any = traversal.stack().0;
    let mut deep = Deep::<false>(0);
    traversal.run(roots(), &mut deep);
    assert_eq!(deep.0, closures);
    let forwards = traversal.stack().0;
    let mut deep = Deep::<true>(0);
    traversal.run(roots(), &mut deep);
    assert_eq!(deep.0, closures);
    [any, forwards, traversal.stack().0]
}

fn profiles(stopped: &Stopped<'_>, bytes: u64) {
    for words in ["-hT", "-hr", "-ho", "-hc", "-hb"] {
        let mut counter =
            Counter::new(&Flags::parse_words(&[words]).expect("a flag").config.profile).expect("a profile");
        let mut census = [counter.census(stopped, 0.0, None)];
        counter.finish(&mut census);
        assert_eq!(census[0].bytes(), bytes, "{words}");
    }
}

#[test]
fn a_list_of_ten_million() {
    let world = world();
    let _list: Handle<Node> = world
        .enter(|m| {
            m.frame(|m, [list]| {
                let list = list.put_option::<Node>(m, None);
                for i in 0..MANY {
                    let (m, node) = m.alloc_with(|m| Node::new(i, list.get(m), None));
                    list.set(m, Some(node));
                }
                let first = list.get(m).expect("it is not empty");
                m.set_heap_roots([("list", first.erase())]);
                m.handle(first)
            })
        })
        .expect("room enough");
    world
        .inspect(|stopped| {
            let [any, forwards, back] = stacks(stopped, MANY);
            assert!(any < 1024, "{any} bytes");
            // The last slots are null, so the stack does not need a level, except for the way back.
            let levels = 25 * MANY as usize;
            assert!(forwards < 512 << 10 && back < levels, "{forwards} and {back} bytes");
            profiles(stopped, 32 * MANY);
        })
        .expect("no thread is inside");
}

#[test]
fn an_array_of_ten_million() {
    let world = world();
    let _array: Handle<MutArray<Any>> = world
        .enter(|m| {
            m.frame(|m, [array]| {
                let array = array.put(m.alloc_array::<Any>(MANY as usize, |_| None));
                for i in 0..MANY {
                    let (m, node) = m.alloc_with(|_| Node::new(i, None, None));
                    array.get(m).set(m, i as usize, Some(node.erase()));
                }
                let array = array.get(m);
                m.set_heap_roots([("array", array.erase())]);
                m.handle(array)
            })
        })
        .expect("room enough");
    world
        .inspect(|stopped| {
            for stack in stacks(stopped, MANY + 1) {
                assert!(stack < 256 << 10, "{stack} bytes");
            }
            profiles(stopped, 32 * MANY + 8 * MANY + 16);
        })
        .expect("no thread is inside");
}
