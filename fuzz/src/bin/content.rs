//! The fuzzer of content; `./dev fuzz content` runs it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kurier_fuzz::content(&String::from_utf8_lossy(bytes));
});
