//! Pools: in which order task sets are offered resources.
