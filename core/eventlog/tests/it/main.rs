//! Real logs of GHC, logs made here, and damage of all kinds.

mod damage;
mod made;
mod merged;
mod random;
mod real;
