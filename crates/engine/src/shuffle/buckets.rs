//! The rows of one map task, dealt to reduce partitions.

/// One vector of rows for each reduce partition.
#[derive(Debug)]
pub(crate) struct Buckets<T>(Vec<Vec<T>>);

impl<T> Buckets<T> {
    pub(crate) fn new(partitions: u32) -> Self {
        Self((0..partitions).map(|_| Vec::new()).collect())
    }

    /// Makes room for `rows` rows in all, if they are spread evenly.
    pub(crate) fn reserve(&mut self, rows: usize) {
        let each = rows / self.0.len().max(1);
        // A little more than the mean, so that the usual spread does not make every bucket grow once more.
        self.0.iter_mut().for_each(|bucket| bucket.reserve(each + each / 16));
    }

    #[inline]
    pub(crate) fn push(&mut self, partition: u32, row: T) {
        self.0[partition as usize].push(row);
    }

    /// The rows for one reduce partition.
    pub(crate) fn rows(&self, partition: u32) -> &[T] {
        &self.0[partition as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.0.iter().map(Vec::as_slice)
    }
}
