//! Real logs of GHC with the figures of the same runs, logs made here, and damage of all kinds.

mod checked;
mod damage;
mod figures;
mod history;
mod made;
mod merged;
mod random;
mod real;
mod shown;
