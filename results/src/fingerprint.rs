//! Stable hashes of configurations, programs and files.

/// A hash of several parts, the same on every machine: the first 64 bits of SHA-256.
#[derive(Default)]
pub struct Fingerprint(hmac_sha256::Hash);

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fingerprint")
    }
}

impl Fingerprint {
    /// The hash of nothing.
    pub fn new() -> Self {
        Fingerprint::default()
    }

    /// Adds a part. It ends in a byte that UTF-8 text never contains, so that `ab`, `c` and `a`,
    /// `bc` differ.
    pub fn part(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    /// Adds bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Ends a list of parts.
    pub fn end_of_list(&mut self) {
        self.bytes(&[0xfe]);
    }

    /// The hash as 16 hexadecimal digits.
    pub fn text(&self) -> String {
        let digest = self.0.finalize();
        digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
