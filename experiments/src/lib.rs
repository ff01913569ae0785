//! Experiments: from a TOML file to a plan, one process per run, and results; and the gclab command
