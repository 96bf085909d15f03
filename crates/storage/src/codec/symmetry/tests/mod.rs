//! Types that do not read what they write, and those that must never be taken for such.

mod asserts;
mod refused;
mod sound;
