//! The collectors of gclab, one folder each, and their registry
