//! Printed statistics: against GHC's own output, read back, and written to files.

mod ghc;
mod machine;
mod printer;
mod summary;
