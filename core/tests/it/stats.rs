//! Statistics as they are printed.
