//! Dropping a long lineage without a long stack.

use std::cell::RefCell;

use crate::contain::discard;

/// Anything that can be dropped.
trait Buried {}
impl<T> Buried for T {}

thread_local! {
    static DEFERRED_DROPS: RefCell<Option<Vec<Box<dyn Buried>>>> = const { RefCell::new(None) };
}

/// Drops `value`, but not from inside the drop of another buried value: then it waits for its turn.
///
/// Each step of a lineage holds the step before it, so a plain drop goes as deep as the lineage is long and would exhaust
/// the stack after some ten thousand iterations.
pub(crate) fn bury<T: 'static>(value: T) {
    let outermost = DEFERRED_DROPS.with_borrow_mut(|deferred| match deferred {
        Some(waiting) => {
            waiting.push(Box::new(value));
            None
        }
        None => {
            *deferred = Some(Vec::new());
            Some(value)
        }
    });
    let Some(value) = outermost else { return };
    // A panic here would leave everything behind it buried for ever.
    discard(value);
    while let Some(next) = DEFERRED_DROPS.with_borrow_mut(|deferred| deferred.as_mut().and_then(Vec::pop)) {
        discard(next);
    }
    DEFERRED_DROPS.set(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Link(Option<Box<Link>>);

    impl Drop for Link {
        fn drop(&mut self) {
            if let Some(next) = self.0.take() {
                bury(next);
            }
        }
    }

    #[test]
    fn a_chain_of_a_million_links_is_dropped() {
        let chain = (0..1_000_000).fold(Link(None), |chain, _| Link(Some(Box::new(chain))));

        bury(chain);
    }
}
