//! How the world is stopped.
//!
//! * Threads that *run* are counted. One that comes to a slow path takes the world's lock; if somebody is stopping the world it does not count any
//!   more, and waits until that is over. One that goes out of the heap's way ([`crate::mutator::Mutator::blocking`]) does not count either.
//! * Who stops the world says so, interrupts the allocators of those that run, waits until nobody does, and keeps the lock until the
//!   others may go on.
//!
//! An interrupt is not lost: it sets another thread's limit under the lock, and that thread sets it only with the lock, in a refill or
//! when it goes on, both of which wait while the world is being stopped. So *interrupted* implies *being stopped*, until the thread
//! goes on. Fast paths take no lock and have no fence; how soon they see the interrupt is up to the machine (a store takes less than a microsecond).
//!
//! What stopped threads wrote happens before the collection, and that before what they read afterwards: all of them pass the lock.

use super::registry::{Doing, Member, Members, Stay};
use super::{Inside, World};
use crate::collector::{Capability, Collector};
use crate::sync::{Arc, MutexGuard};

/// The world's inside, locked.
pub(super) type Locked<'w, C> = MutexGuard<'w, Inside<C>>;

impl<C: Collector> World<C> {
    /// The lock for a thread that runs, at a safepoint: nobody is stopping the world.
    pub(super) fn lock(&self, stay: Stay<'_, C::Alloc>) -> Locked<'_, C> {
        let mut inside = self.inside.lock();
        stay.note();
        if inside.stopping {
            self.no_longer_runs(&mut inside, stay.member, Doing::Stopped);
            self.goes_on(&mut inside, stay);
        }
        inside
    }

    /// Stop, if somebody wants that.
    pub(crate) fn safepoint(&self, stay: Stay<'_, C::Alloc>) {
        drop(self.lock(stay));
    }

    /// Out of the heap's way, until [`World::come_back`].
    pub(crate) fn go_out(&self, stay: Stay<'_, C::Alloc>) {
        let mut inside = self.inside.lock();
        stay.note();
        self.no_longer_runs(&mut inside, stay.member, Doing::Blocking);
    }

    pub(crate) fn come_back(&self, stay: Stay<'_, C::Alloc>) {
        self.goes_on(&mut self.inside.lock(), stay);
    }

    pub(super) fn no_longer_runs(&self, inside: &mut Locked<'_, C>, member: &Member<C::Alloc>, doing: Doing) {
        member.set_doing(doing);
        inside.running -= 1;
        if inside.stopping && inside.running == 0 {
            self.all_stopped.notify_one();
        }
    }

    pub(super) fn goes_on(&self, inside: &mut Locked<'_, C>, stay: Stay<'_, C::Alloc>) {
        self.wait_while_stopping(inside);
        inside.running += 1;
        stay.member.set_doing(Doing::Running);
        stay.capability.go_on(inside.stress.is_some());
    }

    pub(super) fn wait_while_stopping(&self, inside: &mut Locked<'_, C>) {
        while inside.stopping {
            self.resumed.wait(inside);
        }
    }

    /// Stop all that run. `stay` is that of the caller if it runs itself. Nobody else is stopping the world.
    pub(super) fn stop<'a, 'w>(
        &'w self,
        inside: &'a mut Locked<'w, C>,
        stay: Option<Stay<'a, C::Alloc>>,
    ) -> WorldStopped<'a, 'w, C> {
        debug_assert!(!inside.stopping);
        inside.stopping = true;
        if let Some(stay) = stay {
            inside.running -= 1;
            stay.member.set_doing(Doing::Stopping);
        }
        if inside.running > 0 {
            self.members.read(|members| {
                for member in members.iter().filter(|member| member.doing() == Doing::Running) {
                    // SAFETY: it is inside and runs; to leave it needs the lock, which is ours.
                    unsafe { Capability::interrupt(member.capability) };
                }
            });
        }
        while inside.running > 0 {
            self.all_stopped.wait(inside);
        }
        WorldStopped {
            members: self.members.read(<[_]>::to_vec),
            world: self,
            inside,
            stay,
        }
    }
}

/// The world is stopped as long as this lives.
pub(super) struct WorldStopped<'a, 'w, C: Collector> {
    world: &'w World<C>,
    inside: &'a mut Locked<'w, C>,
    stay: Option<Stay<'a, C::Alloc>>,
    /// All that are inside: none comes or leaves meanwhile.
    members: Vec<Arc<Member<C::Alloc>>>,
}

impl<C: Collector> WorldStopped<'_, '_, C> {
    /// The inside, and all that are there.
    pub(super) fn split(&mut self) -> (&mut Inside<C>, &Members<C::Alloc>) {
        (&mut *self.inside, &self.members)
    }
}

impl<C: Collector> Drop for WorldStopped<'_, '_, C> {
    fn drop(&mut self) {
        self.inside.stopping = false;
        if let Some(stay) = self.stay {
            self.world.goes_on(self.inside, stay);
        }
        self.world.resumed.notify_all();
    }
}
