//! The standalone master: which worker runs which executor and driver.
