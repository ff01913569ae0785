//! The rules for the pages of the project: README and its neighbours, and `docs/`.

mod book;
mod figures;
mod glossary;
