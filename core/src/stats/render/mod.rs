//! Prints [`Statistics`](super::Statistics) as GHC 9.0.2's threaded runtime does, byte for byte in layout, so that its users and tools feel at home.
