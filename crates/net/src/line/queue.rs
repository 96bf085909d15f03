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
    /// Takes the bytes behind the first `from`: the vector itself when they are many, else a copy.
    pub(super) fn append(&mut self, piece: &mut Vec<u8>, from: usize) {
        let bytes = &piece[from..];
        self.bytes += bytes.len() as u64;
        match self.pieces.back_mut() {
            _ if bytes.is_empty() => {}
            Some(last) if last.len() + bytes.len() <= JOIN_BYTES => last.extend_from_slice(bytes),
            None if bytes.len() > JOIN_BYTES => {
                self.gone = from;
                self.pieces.push_back(mem::take(piece));
            }
            Some(_) if bytes.len() > JOIN_BYTES && from == 0 => self.pieces.push_back(mem::take(piece)),
            _ => self.pieces.push_back(bytes.to_vec()),
        }
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

    proptest! {
        #[test]
        fn what_goes_in_comes_out_in_order_however_it_is_cut(
            pieces in vec((prop_oneof![0_usize..100, JOIN_BYTES - 2..JOIN_BYTES + 3], any::<u8>()), 0..10),
            from in 0_usize..100,
            writes in vec(1_usize..200_000, 1..30),
        ) {
            let (mut queue, mut all) = (Queue::default(), Vec::new());
            for (at, (len, byte)) in pieces.into_iter().enumerate() {
                let mut piece: Vec<_> = (0..len).map(|at| byte.wrapping_add(at as u8)).collect();
                let from = if at == 0 { from.min(len) } else { 0 };
                all.extend_from_slice(&piece[from..]);
                queue.append(&mut piece, from);
            }

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

            prop_assert_eq!(got, all);
        }
    }
}
