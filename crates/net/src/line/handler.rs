//! Who takes what arrives on a line: [`Handler`].

use super::closed::Closed;

/// Takes what arrives on a line, on the line's own thread.
///
/// While a handler works, its line reads nothing. A handler that panics costs its line.
pub trait Handler<In>: Send + 'static {
    /// Takes everything that has arrived so far, in the order in which it was sent; never called with nothing.
    ///
    /// What is left in the vector is dropped. The vector is used again, so `drain` is better than `take`.
    fn messages(&mut self, messages: &mut Vec<In>);

    /// Hears why the line ended: called once, last.
    fn closed(&mut self, why: Closed);
}

impl<In> Handler<In> for Box<dyn Handler<In>>
where
    In: 'static,
{
    fn messages(&mut self, messages: &mut Vec<In>) {
        (**self).messages(messages);
    }

    fn closed(&mut self, why: Closed) {
        (**self).closed(why);
    }
}
