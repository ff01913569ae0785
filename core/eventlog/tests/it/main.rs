//! Real logs of GHC with the figures of the same runs, logs made here, and damage of all kinds.

mod checked;
mod damage;
mod figures;
mod ghc_events;
mod made;
mod merged;
mod random;
mod real;
mod shown;
