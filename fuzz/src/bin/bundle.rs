//! The fuzzer of proofs and bundles; `./dev fuzz bundle` runs it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| kurier_fuzz::bundle(bytes));
