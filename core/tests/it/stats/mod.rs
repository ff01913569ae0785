//! Statistics as they are printed: against GHC's own texts, read back, and as files.

mod ghc;
mod machine;
mod printer;
mod summary;
