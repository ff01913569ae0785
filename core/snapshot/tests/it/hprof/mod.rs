//! JVM heap dumps: small ones made here, damaged ones, and a real one with the JVM's own counts.

mod build;
mod damage;
mod real;
mod small;
