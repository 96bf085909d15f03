//! Bytes that arrived, cut into frames: [`Inbox`].

use crate::frame::LENGTH_LEN;

/// In place of a length: the peer is alive.
pub(super) const PING: [u8; LENGTH_LEN] = u32::MAX.to_le_bytes();

/// In place of a length: the peer sends nothing more.
pub(super) const GOODBYE: [u8; LENGTH_LEN] = (u32::MAX - 1).to_le_bytes();

/// The longest message that can be framed.
pub(super) const MESSAGE_MAX: usize = u32::MAX as usize - 2;

/// How much is read at a time at first; a line that has more to say gets more.
const READ_MIN: usize = 16 << 10;

/// How much is read at a time at most, but for a message that is longer.
const READ_MAX: usize = 256 << 10;

/// A buffer that grew beyond this for a long message is given back after it.
const KEEP_MAX: usize = 1 << 20;

/// The bytes of a line on their way to becoming messages.
///
/// Memory grows with what has arrived, never with what a length claims.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// How many of the bytes have been handed out.
    start: usize,
    /// How much to read at a time.
    step: usize,
    max_message: usize,
}

/// What stands next in the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame<'a> {
    Message(&'a [u8]),
    Ping,
    Goodbye,
}

/// A length above the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong {
    pub(super) len: usize,
}

impl Inbox {
    pub(super) fn new(max_message: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, step: READ_MIN, max_message }
    }

    pub(super) fn max_message(&self) -> usize {
        self.max_message
    }

    /// The vector to whose end the next bytes are to be appended, with room for some.
    ///
    /// To be called when [`Self::next`] has nothing more.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        if self.bytes.len() == self.bytes.capacity() && self.bytes.len() >= self.step {
            self.step = (self.step * 2).min(READ_MAX);
        }
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.is_empty() && self.bytes.capacity() > KEEP_MAX {
            self.bytes = Vec::new();
        }
        let have = self.bytes.len();
        let unfinished =
            self.bytes.first_chunk().map_or(0, |len| LENGTH_LEN + u32::from_le_bytes(*len) as usize);
        let capacity = unfinished.min(have * 2).max(self.step);
        self.bytes.reserve_exact(capacity.saturating_sub(have));
        &mut self.bytes
    }

    /// The next whole frame, none when the rest of it has not arrived yet.
    pub(super) fn next(&mut self) -> Result<Option<Frame<'_>>, TooLong> {
        let Some((length, body)) = self.bytes[self.start..].split_first_chunk() else { return Ok(None) };
        let (frame, len) = match (*length, u32::from_le_bytes(*length) as usize) {
            (PING, _) => (Frame::Ping, 0),
            (GOODBYE, _) => (Frame::Goodbye, 0),
            (_, len) if len > self.max_message => return Err(TooLong { len }),
            (_, len) => match body.get(..len) {
                Some(body) => (Frame::Message(body), len),
                None => return Ok(None),
            },
        };
        self.start += LENGTH_LEN + len;
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Feeds the bytes in reads of the given lengths; gives the frames and the most memory that was taken.
    fn feed(bytes: &[u8], reads: &[usize], max: usize) -> (Vec<Vec<u8>>, Result<(), TooLong>, usize) {
        let (mut inbox, mut frames, mut most, mut at) = (Inbox::new(max), Vec::new(), 0, 0);
        for read in reads.iter().cycle() {
            loop {
                match inbox.next() {
                    Ok(Some(Frame::Message(body))) => frames.push(body.to_vec()),
                    Ok(Some(Frame::Ping)) => frames.push(PING.to_vec()),
                    Ok(Some(Frame::Goodbye)) => frames.push(GOODBYE.to_vec()),
                    Ok(None) => break,
                    Err(long) => return (frames, Err(long), most),
                }
            }
            if at == bytes.len() {
                break;
            }
            let room = inbox.room();
            let spare = room.capacity() - room.len();
            assert!(spare > 0);
            most = most.max(room.capacity());
            let end = (at + spare.min(*read)).min(bytes.len());
            room.extend_from_slice(&bytes[at..end]);
            at = end;
        }
        (frames, Ok(()), most)
    }

    fn framed(body: &[u8]) -> Vec<u8> {
        [&(body.len() as u32).to_le_bytes()[..], body].concat()
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_they_are_read(
            bodies in vec(prop_oneof![vec(any::<u8>(), 0..50), vec(any::<u8>(), 40_000..90_000)], 0..12),
            reads in vec(1_usize..100_000, 1..20),
        ) {
            let mut bytes: Vec<u8> = bodies.iter().flat_map(|body| framed(body)).collect();
            bytes.extend(PING);
            bytes.extend(GOODBYE);

            let (mut got, ended, _) = feed(&bytes, &reads, 90_000);

            prop_assert_eq!(ended, Ok(()));
            prop_assert_eq!(got.split_off(bodies.len()), [PING, GOODBYE]);
            prop_assert_eq!(got, bodies);
        }

        #[test]
        fn no_bytes_make_it_panic_or_take_more_memory_than_its_limit(
            bytes in vec(prop_oneof![3 => Just(0_u8), 1 => any::<u8>()], 0..2000),
            reads in vec(1_usize..300, 1..10),
            max in 0_usize..1_000_000,
        ) {
            let (frames, _, most) = feed(&bytes, &reads, max);

            prop_assert!(most <= READ_MIN.max(2 * bytes.len()), "{} bytes for {}", most, bytes.len());
            prop_assert!(frames.iter().all(|frame| frame.len() <= max.max(LENGTH_LEN)));
        }
    }

    #[test]
    fn a_length_above_the_limit_is_refused_before_its_message() {
        let mut bytes = framed(b"short");
        bytes.extend(101_u32.to_le_bytes());

        let (frames, ended, _) = feed(&bytes, &[1000], 100);

        assert_eq!(frames, [b"short"]);
        assert_eq!(ended, Err(TooLong { len: 101 }));
    }

    #[test]
    fn a_length_that_is_not_followed_by_its_bytes_takes_no_memory_for_the_claim() {
        let claim = (100_u32 << 20).to_le_bytes();

        let (_, _, most) = feed(&claim, &[1000], 128 << 20);

        assert_eq!(most, READ_MIN);
    }

    #[test]
    fn the_memory_of_a_long_message_is_given_back_after_it() {
        let mut inbox = Inbox::new(128 << 20);
        let long = framed(&vec![7; 8 << 20]);
        let mut at = 0;
        while at < long.len() {
            let room = inbox.room();
            let end = (at + room.capacity() - room.len()).min(long.len());
            room.extend_from_slice(&long[at..end]);
            at = end;
        }
        assert!(matches!(inbox.next(), Ok(Some(Frame::Message(body))) if body.len() == 8 << 20));

        assert!(inbox.room().capacity() <= READ_MAX);
    }
}
