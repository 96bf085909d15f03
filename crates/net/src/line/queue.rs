//! Bytes that the socket did not take yet: [`Queue`].

use std::{collections::VecDeque, io::IoSlice, mem};

/// Short pieces are joined up to this length.
const JOIN_BYTES: usize = 64 << 10;

/// So many pieces go in one system call.
const SLICES_MAX: usize = 64;

/// Bytes in the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pieces: VecDeque<Vec<u8>>,
    /// How much of the first piece is gone.
    gone: usize,
    bytes: u64,
}

impl Queue {
    /// Takes a piece to the end: the vector itself when it is long, else a copy.
    pub(super) fn append(&mut self, piece: &mut Vec<u8>) {
        self.bytes += piece.len() as u64;
        match self.pieces.back_mut() {
            Some(last) if last.len() + piece.len() <= JOIN_BYTES => last.extend_from_slice(piece),
            _ if piece.len() > JOIN_BYTES => self.pieces.push_back(mem::take(piece)),
            _ if piece.is_empty() => {}
            _ => self.pieces.push_back(piece.clone()),
        }
    }

    /// Takes the bytes of a piece behind the first `gone` to the front of a queue that was not begun.
    pub(super) fn prepend(&mut self, piece: &mut Vec<u8>, gone: usize) {
        assert_eq!(self.gone, 0, "two pieces cannot both be begun");
        if gone < piece.len() {
            self.bytes += (piece.len() - gone) as u64;
            self.gone = gone;
            self.pieces.push_front(mem::take(piece));
        }
    }

    /// Takes all of a queue that was not begun to the end.
    pub(super) fn join(&mut self, mut other: Self) {
        assert_eq!(other.gone, 0, "two pieces cannot both be begun");
        self.bytes += other.bytes;
        self.pieces.append(&mut other.pieces);
    }

    /// How many bytes wait.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The first bytes, as many as go in one system call.
    pub(super) fn slices(&self) -> Vec<IoSlice<'_>> {
        let mut slices: Vec<_> =
            self.pieces.iter().take(SLICES_MAX).map(|piece| IoSlice::new(piece)).collect();
        if let Some(first) = slices.first_mut() {
            first.advance(self.gone);
        }
        slices
    }

    /// Forgets the first `written` bytes.
    pub(super) fn advance(&mut self, written: usize) {
        self.bytes -= written as u64;
        self.gone += written;
        while let Some(first) = self.pieces.front().map(Vec::len).filter(|len| *len <= self.gone) {
            self.gone -= first;
            self.pieces.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn piece(len: usize, byte: u8) -> Vec<u8> {
        (0..len).map(|at| byte.wrapping_add(at as u8)).collect()
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order_however_it_is_cut(
            first in (0_usize..200_000, any::<u8>(), any::<prop::sample::Index>()),
            pieces in vec((prop_oneof![0_usize..100, JOIN_BYTES - 2..JOIN_BYTES + 3], any::<u8>()), 0..10),
            joined in vec((0_usize..100_000, any::<u8>()), 0..3),
            writes in vec(1_usize..200_000, 1..30),
        ) {
            let (mut queue, mut all) = (Queue::default(), Vec::new());
            for (len, byte) in pieces {
                all.extend(piece(len, byte));
                queue.append(&mut piece(len, byte));
            }
            let (len, byte, gone) = first;
            let gone = gone.index(len + 1);
            all.splice(0..0, piece(len, byte).split_off(gone));
            queue.prepend(&mut piece(len, byte), gone);
            let mut later = Queue::default();
            for (len, byte) in joined {
                all.extend(piece(len, byte));
                later.append(&mut piece(len, byte));
            }
            queue.join(later);

            let mut got = Vec::new();
            for write in writes.into_iter().cycle() {
                prop_assert_eq!(queue.bytes(), (all.len() - got.len()) as u64);
                if queue.is_empty() {
                    break;
                }
                let first: Vec<u8> =
                    queue.slices().iter().flat_map(|slice| slice.iter().copied()).take(write).collect();
                prop_assert!(!first.is_empty());
                queue.advance(first.len());
                got.extend(first);
            }

            prop_assert!(got == all);
        }
    }
}
