//! The text of a metadata file or an answer key: strict UTF-8, else strict cp1252. 80 metadata files and one key of
//! DiscoveryBench are cp1252; upstream reads them with the locale's encoding.

use std::borrow::Cow;

use encoding_rs::WINDOWS_1252;

/// Bytes that Python's cp1252 does not define. `encoding_rs` follows the WHATWG and makes C1 controls of them.
const UNDEFINED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// Decodes a whole file.
///
/// # Errors
/// In words, with the place of the first byte that neither encoding allows.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let utf8 = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(Cow::Borrowed(text)),
        Err(error) => error.valid_up_to(),
    };
    match bytes.iter().position(|byte| UNDEFINED.contains(byte)) {
        None => Ok(WINDOWS_1252.decode_without_bom_handling(bytes).0),
        Some(at) => Err(format!(
            "neither UTF-8 (byte 0x{:02x} at position {utf8}) nor cp1252 (byte 0x{:02x} at position {at})",
            bytes[utf8], bytes[at]
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn utf8_first_then_cp1252() {
        assert_eq!(decode("µ ’".as_bytes()).unwrap(), "µ ’");
        assert_eq!(decode(b"\xb5 \x92 \x80").unwrap(), "\u{b5} \u{2019} \u{20ac}");
        assert_eq!(decode(b"\xef\xbb\xbf\xb5").unwrap(), "\u{ef}\u{bb}\u{bf}\u{b5}");
    }

    #[test]
    fn undefined_bytes_are_refused_as_python_does() {
        for byte in UNDEFINED {
            let error = decode(&[b'a', 0xb5, byte]).unwrap_err();
            assert_eq!(
                error,
                format!("neither UTF-8 (byte 0xb5 at position 1) nor cp1252 (byte 0x{byte:02x} at position 2)")
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_ascii(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(text) = decode(&bytes) {
                let ascii = |c: &u8| c.is_ascii().then_some(char::from(*c));
                prop_assert!(bytes.iter().filter_map(ascii).eq(text.chars().filter(char::is_ascii)));
            }
        }
    }
}
