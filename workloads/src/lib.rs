//! Programs that allocate, written against gclab's mutator API; each ends in a checksum
