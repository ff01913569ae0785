//! One generic traversal over any collector's heap
