//! The standalone worker: its executor and driver processes, as the master ordered them.
