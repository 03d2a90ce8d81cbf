use proptest::prelude::*;

use super::*;

const LIMIT: usize = 4096;

fn tag() -> Tag {
    Tag::from_bytes(*b"0123456789abcdef")
}

fn frame(tag: &Tag, payload: &[u8]) -> Vec<u8> {
    [&header(tag, payload), payload].concat()
}

/// Feeds the pieces until one of them brings an end.
fn decode(pieces: &[&[u8]]) -> Result<Option<Vec<u8>>, Error> {
    let mut decoder = Decoder::new(&tag(), LIMIT);
    for piece in pieces {
        if let Some(payload) = decoder.push(piece)? {
            return Ok(Some(payload));
        }
    }
    Ok(None)
}

#[test]
fn a_length_beyond_the_limit_is_refused_before_anything_is_kept() {
    let mut bytes = frame(&tag(), b"");
    bytes[16..].copy_from_slice(&u32::MAX.to_be_bytes());
    assert_eq!(decode(&[&bytes]), Err(Error::TooLong { length: u32::MAX as usize, limit: LIMIT }));
    let most = vec![b'x'; LIMIT];
    assert_eq!(decode(&[&frame(&tag(), &most)]), Ok(Some(most)));
    let more = vec![b'x'; LIMIT + 1];
    assert_eq!(decode(&[&frame(&tag(), &more)]), Err(Error::TooLong { length: LIMIT + 1, limit: LIMIT }));
}

#[test]
fn bytes_behind_the_frame_are_an_error() {
    let bytes = [frame(&tag(), b"abc"), b"!!".to_vec()].concat();
    assert_eq!(decode(&[&bytes]), Err(Error::Excess(2)));
}

#[test]
fn a_tag_is_not_logged() {
    assert_eq!(format!("{:?}", tag()), "Tag(..)");
    assert_ne!(Tag::random().unwrap(), Tag::random().unwrap());
}

#[test]
fn a_reply_that_is_none() {
    assert_eq!(Reply::parse(vec![0; 15]), Err(Error::TooShort(15)));
    assert_eq!(Reply::parse([vec![0; 16], vec![0xff]].concat()), Err(Error::NotText));
    let empty = Reply { elapsed: Duration::ZERO, bytes_cut: 0, observation: String::new() };
    assert_eq!(Reply::parse(vec![0; 16]), Ok(empty));
}

proptest! {
    #[test]
    fn a_frame_arrives_however_it_is_cut(payload in prop::collection::vec(any::<u8>(), 0..500),
                                         cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
        let bytes = frame(&tag(), &payload);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(decode(&pieces), Ok(Some(payload)));
    }

    #[test]
    fn a_frame_that_is_cut_off_never_counts(payload in prop::collection::vec(any::<u8>(), 0..200),
                                            cut in any::<prop::sample::Index>()) {
        let bytes = frame(&tag(), &payload);
        prop_assert_eq!(decode(&[&bytes[..cut.index(bytes.len())]]), Ok(None));
    }

    #[test]
    fn garbage_is_refused_at_its_first_wrong_byte(garbage in prop::collection::vec(any::<u8>(), 1..100)) {
        // Whatever comes, even the answer itself, it never becomes one.
        let wrong = garbage.iter().zip(b"0123456789abcdef").any(|(byte, right)| byte != right);
        let bytes = [garbage.clone(), frame(&tag(), b"answer")].concat();
        let decoded = decode(&[&bytes]);
        prop_assert!(!matches!(decoded, Ok(Some(_))), "{:?}", decoded);
        if wrong {
            prop_assert_eq!(decode(&[&garbage]), Err(Error::ForeignTag));
        }
    }

    #[test]
    fn a_frame_of_another_request_is_refused(bytes in any::<[u8; 16]>(), payload in prop::collection::vec(any::<u8>(), 0..50)) {
        let other = Tag::from_bytes(bytes);
        prop_assume!(other != tag());
        prop_assert_eq!(decode(&[&frame(&other, &payload)]), Err(Error::ForeignTag));
    }

    #[test]
    fn any_bytes_are_a_reply_or_an_error(payload in prop::collection::vec(any::<u8>(), 0..100)) {
        match Reply::parse(payload.clone()) {
            Ok(reply) => {
                let again = [&u64::try_from(reply.elapsed.as_nanos()).unwrap().to_be_bytes()[..],
                             &reply.bytes_cut.to_be_bytes(), reply.observation.as_bytes()].concat();
                prop_assert_eq!(again, payload);
            }
            Err(Error::TooShort(length)) => prop_assert!(length < 16),
            Err(error) => {
                prop_assert_eq!(error, Error::NotText);
                prop_assert!(std::str::from_utf8(&payload[16..]).is_err());
            }
        }
    }
}
