//! The properties of a thread, which the jobs it submits take along.

use std::cell::RefCell;

use firesteel_types::Properties;

use super::Driver;

thread_local! {
    /// By driver: two contexts of one process do not see each other's properties.
    static LOCAL: RefCell<Vec<(u64, Properties)>> = const { RefCell::new(Vec::new()) };
}

impl Driver {
    /// The properties of the calling thread.
    pub(crate) fn local_properties(&self) -> Properties {
        LOCAL.with_borrow(|all| {
            let mine = all.iter().find(|(driver, _)| *driver == self.number);
            mine.map(|(_, properties)| properties.clone()).unwrap_or_default()
        })
    }

    /// Gives this thread those of another.
    pub(crate) fn set_local_properties(&self, properties: Properties) {
        LOCAL.with_borrow_mut(|all| {
            all.retain(|(driver, _)| *driver != self.number);
            if properties != Properties::default() {
                all.push((self.number, properties));
            }
        });
    }
}
