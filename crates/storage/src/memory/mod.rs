//! What each task holds, measured, and how an executor's budget is divided.
