//! Reads V8 heap snapshots (.heapsnapshot, plain or gzip), streamed
