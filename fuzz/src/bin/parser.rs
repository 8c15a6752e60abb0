//! The fuzzer of the expression language; `./dev fuzz parser` runs it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        kurier_fuzz::parser(text);
    }
});
