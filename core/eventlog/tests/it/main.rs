//! Real logs of GHC with the numbers that the same runs printed, logs made here, and damage of all
//! kinds.

mod checked;
mod chrome;
mod damage;
mod diff;
mod figures;
mod ghc_events;
mod history;
mod hp;
mod made;
mod merged;
mod older;
mod random;
mod real;
mod shown;
mod timeline;
